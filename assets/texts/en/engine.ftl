engine-row-index = Row { $index }
