audit-audit = Audit
audit-older-changes = Older changes
audit-newest-changes = Newest changes
audit-no-older-changes = No older changes.
audit-no-changes-yet = No changes yet. Every change appears here, with the user and the values before and after.
audit-no-matches-try-fewer-filters = No matches. Try fewer filters.
audit-many-at-once =
    { $links ->
        [who] <a href="{ $who_link }"><strong>{ $who }</strong></a> made { $count } changes at once
       *[none] <strong>{ $who }</strong> made { $count } changes at once
    }
audit-many-at-once-by =
    { $links ->
        [who] <a href="{ $who_link }"><strong>{ $who }</strong></a> made { $count } changes at once: <a href="{ $batch_link }">{ $batch }</a>
       *[none] <strong>{ $who }</strong> made { $count } changes at once: <a href="{ $batch_link }">{ $batch }</a>
    }
audit-did =
    { $links ->
        [both] <a href="{ $who_link }"><strong>{ $who }</strong></a> { $verb } { $noun } <a href="{ $record_link }">{ $record }</a>
        [who] <a href="{ $who_link }"><strong>{ $who }</strong></a> { $verb } { $noun } { $record }
        [record] <strong>{ $who }</strong> { $verb } { $noun } <a href="{ $record_link }">{ $record }</a>
       *[none] <strong>{ $who }</strong> { $verb } { $noun } { $record }
    }
audit-show-changes = Show changes<span class="unseen">: { $id } and older</span>
audit-the-newest-are-shown-the-export-has = The newest { $count } are shown; the export has all of them.
audit-searched-back-to = Searched back to { $at } so far. Search further back below, or choose a shorter time.
audit-and-more-the-audits-export-has-all = and { $count } more; the audit's export has all of them
audit-and-more-the-export-has-all = and { $count } more; the export has all of them
audit-values = { $count } values
audit-before = Before
audit-after = After
audit-show-values = Show values<span class="unseen">: change { $id }</span>
audit-import-of-file = import of { $file }
audit-email-removed = { $email } (removed)
audit-named-no = { $name } (no. { $id })
