reports-slow = This report goes through { $rows } rows: each preview takes { $seconds } seconds or more.
reports-the-preview-follows-what-you-choose = The preview follows what you choose.
reports-advanced = Advanced
reports-api-access = API access
reports-edit-as-sql = Edit as SQL
reports-a-report-that-is-saved-as-sql = A report that is saved as SQL cannot be edited here any more.
reports-reports = Reports
reports-certificates = Certificates
reports-options = Options
reports-what-counts-the-sessions-at-the-place = What counts: the sessions at the place and below it, those at the same time once; without sessions, the place's own beginning and end. Check-ins, check-outs and readers tell who was there.
reports-enough-of-there = { $enough } of { $there } who were there, for { $percent } % of { $time }
reports-open-the-pdf = Open the PDF
reports-set-the-mail-server-up-first = To send each theirs by e-mail, set the mail server up first: <a href="/console/messages/gateways">Gateways</a>.
reports-make-the-e-mail-that-brings-it = To send each theirs by e-mail, <a href="/console/messages/templates/new?type=email&amp;sample=certificate">make the e-mail</a> that brings it.
reports-send-a-certificate-to-each = Send a certificate to each of them, { $count } at most?
reports-send-each-theirs-by-e-mail = Send each theirs by e-mail:
reports-send = Send
reports-nobody-yet = Nobody yet
reports-nobody-was-there-for-long-enough = Nobody was there for long enough.
reports-attendee = Attendee
reports-attended = Attended
reports-percent = Percent
reports-only-the-first-are-shown-the-pdf = Only the first are shown; the PDF has all.
reports-each-has-a-code-that-its-page = Each has a code that its page confirms.
reports-they-have-no-code = They have no code: no address is reachable from outside (Settings, General).
reports-layouts-are-under-settings-badges = Layouts are under <em>Settings</em>, <em>Badges</em>.
reports-minutes =
    { $count ->
        [one] 1 minute
       *[other] { $count } minutes
    }
reports-hours =
    { $count ->
        [one] 1 hour
       *[other] { $count } hours
    }
reports-parts-of-hours = { $hours }.{ $tenths } hours
reports-chart-of = Chart: { $heading }
reports-histogram-of = { $heading }: how many rows have which number
reports-only-the-first-rows-are-counted-the = Only the first rows are counted; the files have all.
reports-only-the-highest-are-drawn-the-files = Only the highest are drawn; the files have all.
reports-table-of = Table of { $heading }
reports-only-a-part-is-drawn-the-files = Only a part is drawn; the files have all.
reports-chart-about = { $value } by { $along }, { $count } of them: at most { $most } at { $most_at }, at least { $least } at { $least_at }
reports-number-range = { $from } to { $to }
reports-column-by-span = { $column }, by { $span }
reports-column-span = { $column }, { $span }
reports-column-on-day = { $column }, { $day }
reports-columns-of-views = Times are texts in UTC; <code>local_time(recorded_at)</code> is in this event's time zone. Deleted records are left out. <code>data ->> '$.Data.meal'</code> reads a field of a section.
reports-new-report = New report
reports-lists-and-counts-to-read-here-to = Lists and counts to read here, to download, and to fetch through the API.
reports-no-reports = No reports
reports-a-report-is-a-list-or-a = A report is a list or a count that everybody can read, draw and download.
reports-every-client = every client
reports-clients =
    { $count ->
        [one] 1 client
       *[other] { $count } clients
    }
reports-removed-reports-that-came-with-gatepost = Removed reports that came with Gatepost
reports-delete-report = Delete report
reports-delete-name = Delete { $name }?
reports-chart = Chart
reports-grid = Grid
reports-line = Line
reports-bars = Bars
reports-none = None
reports-column = Column
reports-run-the-report = Run the report
reports-rows =
    { $count ->
        [one] 1 row
       *[other] { $count } rows
    }
reports-the-first-rows = The first { $count } rows
reports-the-files-have-all-rows = The files have all rows.
reports-not-run-yet = Not run yet
reports-fill-in-the-parameters-above-and-run = Fill in the parameters above, and run the report.
reports-write-sql = Write SQL
reports-choose-what-the-report-is-about-or = Choose what the report is about, or begin with an example.
reports-no-rows = No rows
reports-the-report-ran-and-found-no-rows = The report ran and found no rows.
reports-rows-of-the-report = Rows of the report
reports-the-first-count-rows = The first { $count } rows.
reports-nothing-is-saved-yet = Nothing is saved yet.
reports-from = from
reports-to = to
reports-no-chart = none
reports-a-text = text
