handbook-gatepost-handbook = Gatepost handbook
handbook-handbook = Handbook
handbook-search-the-handbook = Search the handbook
handbook-search = Search
handbook-menu = Menu
handbook-api-reference = API reference
handbook-no-matches = No matches. Try fewer or other words.
