interactions-export-as-csv = Export as CSV
interactions-nothing-so-far-there-is-more-further = Nothing so far. There is more further back.
interactions-nothing-was-undone-yet = Nothing was undone yet.
interactions-nothing-yet-what-gates-and-apps-send = Nothing yet. What gates and apps send appears here as it comes.
interactions-no-conflicts = No conflicts
interactions-a-gate-that-works-without-the-network = A gate that works without the network lets people in by itself. Where the rules would have refused one of them, it stands here.
interactions-the-gate-let-these-people-in-and = The gate let these people in, and the rules would have refused them.
interactions-delete-interaction-id = Delete interaction { $id }?
interactions-the-gate-admitted-this-the-rules-would = The gate admitted this; the rules would have refused it: { $conflict }
interactions-admitted = Admitted
interactions-in-spite-of-refusal = in spite of “{ $refusal }”
interactions-against-the-rules = against the rules
interactions-answers = Answers
interactions-count-bytes-of-data-too-long-to = { $count } bytes of data: too long to be shown here. An export has it in full.
interactions-no-data = No data.
interactions-happened = Happened
interactions-received = Received
interactions-user = User
interactions-import-batch = import { $batch }
interactions-decided-by = Decided by
interactions-the-gate-offline = the gate, offline
interactions-scans-of-codes-that-were-unknown = Scans of codes that were unknown
interactions-gates-refused-late = Gates refused <strong>{ $late }</strong>
interactions-scan-of-a-code = scan of a code
interactions-scans-of-codes = scans of codes
interactions-that-attendees-have-by-now-for-example = that attendees have by now, for example because a list was imported later.
interactions-record-late = Record { $late }
interactions-scan = scan
interactions-scans = scans
interactions-refusals = Refusals
interactions-no-refusals = No refusals
interactions-refused-check-ins-appear-here-with-the = Refused check-ins appear here, with the reason.
interactions-admitted-offline = admitted offline
interactions-refused = refused
interactions-with-other = with { $other }
interactions-came-in = came in
interactions-later = later,
interactions-undone-by-by-recorded-recorded-at = Undone by { $by }, recorded { $recorded_at }
interactions-by-sender = by { $sender }
interactions-conflict = Conflict:
interactions-undo-delegate-told = Undo<span class="unseen">: { $delegate } { $told }</span>
interactions-solve-delegate = Solve<span class="unseen">: { $delegate }</span>
interactions-at-places = at { $places }
interactions-show-them-one-by-one = Show them one by one
interactions-count-kind-imported-from-file = <strong>{ $count } { $kind }</strong> imported from <a href="/console/import/batches/{ $id }">{ $file }</a>
interactions-undone = undone
interactions-everything = Everything
interactions-today = today
interactions-imports-and-bulk = Imports and bulk
interactions-record-late-scans =
    Records these scans as if the gates had let the people in. Record { $count ->
        [one] 1 scan
       *[other] { $count } scans
    }?
interactions-places-and-others = { $places } and others
