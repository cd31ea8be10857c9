prepare-prepare-name = Prepare { $name }
prepare-each-step-says-what-is-still-missing = Each step says what is still missing.
prepare-scan-a-test-ticket = Scan a test ticket
prepare-nothing-of-it-is-stored = Nothing of it is stored.
prepare-admitted-who-may-enter-place = <strong>Admitted.</strong> { $who } may enter { $place }.
prepare-refused-who-at-place-refusal = <strong>Refused.</strong> { $who } at { $place }: { $refusal }
prepare-needs-a-place-and-an-attendee = Needs a place and an attendee.
prepare-scan = Scan
prepare-ready-to-open = Ready to open?
prepare-count-of-steps-steps-done = <strong>{ $count }</strong> of { $steps } steps done
prepare-nothing-is-missing = Nothing is missing
prepare-to-try-everything-with-gates-start-a = To try everything with gates, start a <a href="/console/settings/rehearsal">rehearsal</a>: afterwards nothing of it remains.
prepare-nobody-is-registered = { $places }: only registered attendees may enter, and nobody is registered. Select attendees and choose “Register for…”.
