handbook-gatepost-handbook = Gatepost-Handbuch
handbook-handbook = Handbuch
handbook-search-the-handbook = Handbuch durchsuchen
handbook-search = Suchen
handbook-menu = Menü
handbook-api-reference = API-Referenz
handbook-no-matches = Keine Treffer. Weniger oder andere Wörter versuchen.
