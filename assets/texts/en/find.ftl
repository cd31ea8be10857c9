find-no-matches-for-q-try-fewer-letters = No matches for { $q }. Try fewer letters.
find-attendees-places-pages-and-actions = Attendees, places, pages and actions
find-attendees-places-pages = Attendees, places, pages
find-try-fewer-letters = Try fewer letters.
