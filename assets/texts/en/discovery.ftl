discovery-requests-count = Requests <span class="count">{ $count }</span>
discovery-no-requests-yet-open-the-gate-app = No requests yet. Open the gate app on the device and scan the code.
discovery-add-an-app-only-if-it-shows = Add an app only if it shows the same four digits.
discovery-check-digits = Check digits
discovery-already-name = already { $name }
discovery-from-address-at-created-at = from { $address } at { $created_at }
discovery-may-create-and-change-attendees = May create and change attendees
discovery-add-code = Add { $code }
discovery-add = Add
discovery-dismiss-code = Dismiss { $code }
discovery-dismiss = Dismiss
discovery-added-apps = Added apps
discovery-no-apps-added-yet = No apps added yet.
discovery-added = Added
discovery-fetched = fetched
discovery-shown-for-until-until2 = shown for <time data-until="{ $until }">until { $until2 }</time>
discovery-not-fetched-yet = not fetched yet
discovery-shown-for = shown for
discovery-until-until = until { $until }
discovery-missed = missed
discovery-the-app-has-its-credentials-new-ones = The app has its credentials. New ones end those at once. Give out new ones?
discovery-give-out-again-to-name = Give out again to { $name }
discovery-give-out-again = Give out again
discovery-discovery = Discovery
discovery-point-the-app-at-this-code = Point the app at this code
discovery-qr-code-of-request-uri = QR code of { $request_uri }
discovery-or-type-it-into-the-app = Or type it into the app:
discovery-choose-the-one-on-the-network-that = Choose the one on the network that the devices are on.
discovery-no-app-yet-open-gate-uri-on = No app yet? Open <a href="/gate">{ $gate_uri }</a> on a phone, tablet or laptop: its browser becomes a gate.
discovery-each-device-must-trust-this-server-first = Each device must trust this server first: open <a href="/gate/trust">{ $trust_uri }</a> on the device.
discovery-requests-accepted-until-clock = Requests accepted: <strong><time data-until="{ $until }">until { $clock }</time></strong>
discovery-ten-more-minutes = Ten more minutes
discovery-discovery-is-closed-new-requests-are-refused = <strong>Discovery is closed.</strong> New requests are refused. Waiting requests can still be added.
discovery-open-for-ten-minutes = Open for ten minutes
