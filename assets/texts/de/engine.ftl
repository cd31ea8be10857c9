engine-row-index = Zeile { $index }
