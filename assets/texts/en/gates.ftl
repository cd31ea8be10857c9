gates-message-to-all-gates = Message to all gates
gates-doors-open-at-8-30 = Doors open at 8:30
gates-send = Send
gates-add-a-gate = Add a gate
gates-sent-gates-show-it-until-you-clear = { $sent } Gates show it until you clear it.
gates-clear = Clear
gates-no-gates-yet = No gates yet
gates-open-a-place-and-press-pair-a = Open a place and press <em>Pair a gate</em>, or open <code>/gate</code> of this server on a phone, a tablet or a laptop, and send the request.
gates-then-open-discovery-compare-the-four-digits = Then open <a href="/console/discovery">Discovery</a>, compare the four digits, and press Add. <a href="/handbook/gates">How to set up a gate</a>
gates-needs-attention-count = Needs attention <span class="badge bad">{ $count }</span>
gates-offline-policy = offline: { $policy }
gates-choose-the-place-of-name = Choose the place<span class="unseen"> of { $name }</span>
gates-what-to-do = What to do
gates-about-name = about { $name }
gates-working-count = Working <span class="badge">{ $count }</span>
gates-set-up-name = Set up<span class="unseen"> { $name }</span>
gates-readers = Readers
gates-all-settings = All settings
gates-report-stolen = Report stolen
gates-set-up-name-2 = Set up { $name }
gates-while-offline-admit = While offline, admit
gates-kiosk = Kiosk
gates-walk-ins = Walk-ins
gates-apply-now = Apply now
gates-supervisor-pin-of-name = Supervisor PIN of { $name }
gates-supervisor-pin = Supervisor PIN
gates-6-to-8-digits = 6 to 8 digits
gates-set-pin = Set PIN
gates-remove-pin = Remove PIN
gates-close-the-settings-of-name = Close<span class="unseen"> the settings of { $name }</span>
gates-seconds = { $count } s
gates-minutes = { $count } min
gates-hours = { $count } h
gates-ago = { $span } ago
gates-fast = { $span } fast
gates-slow = { $span } slow
gates-not-connected-yet = Not connected yet
gates-no-contact-since = No contact since { $at }
gates-uploads-failed =
    { $count ->
        [one] 1 upload failed
       *[other] { $count } uploads failed
    }
gates-scans-wait =
    { $count ->
        [one] 1 scan waits
       *[other] { $count } scans wait
    }
gates-scans-wait-since =
    { $count ->
        [one] 1 scan waits since { $at }
       *[other] { $count } scans wait since { $at }
    }
gates-no-list-yet = No list yet
gates-old-list = List { $span } old
gates-no-place-chosen = No place chosen
gates-its-place-is-gone = Its place is gone
gates-not-at-its-place = Not at the place set for it
gates-low-battery = Battery { $percent } %
gates-clock-is-off = Clock { $off }
gates-app-not-on-the-screen = App not on the screen
gates-other-settings = Settings of version { $version } not there yet
gates-app-not-up-to-date = App not up to date
gates-other-place-is-set = { $set } is set for it; somebody chose another place on the gate.
gates-scans-wait-on-it =
    { $count ->
        [one] 1 scan waits on it.
       *[other] { $count } scans wait on it.
    }
gates-list-of = of { $at }
gates-admits-by-its-list = It admits by its list{ $list }; nothing is lost.
gates-admits-registered-by-its-list = It admits registered attendees by its list{ $list }; nothing is lost.
gates-admits-nobody = It admits nobody until the server answers.
gates-look-at-network-and-screen = Look at its network and its screen.
gates-look-at-power-and-cable = Look at its power and its cable.
gates-cannot-be-reached = Cannot be reached
gates-cannot-be-reached-since = Cannot be reached since { $at }
gates-count-in-contact = { $online } of { $all } { $name }
gates-in-contact = { $all } in contact
gates-all-in-contact = { $others } and { $last } in contact
gates-make-kiosk = Make kiosk
gates-end-kiosk = End kiosk
