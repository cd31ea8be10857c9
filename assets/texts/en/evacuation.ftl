evacuation-at-by-by = { $at } by { $by }
evacuation-evacuation-of-name = Evacuation of { $name }
evacuation-started-at-started-at = Started at { $started_at }
evacuation-ended-at-at = ended at { $at }
evacuation-a-tick-is-no-check-out = A tick is no check-out.
evacuation-download-csv = Download CSV
evacuation-end = End
evacuation-end-the-evacuation = End the evacuation?
evacuation-people = People
evacuation-of-count-safe = of { $count } safe
evacuation-order = Order
evacuation-by-name = By name
evacuation-by-place = By place
evacuation-nobody = Nobody
evacuation-was = was
evacuation-is = is
evacuation-inside = inside
evacuation-phone = Phone
evacuation-safe = Safe
evacuation-place-count-of-group-safe = <strong>{ $place }</strong> · { $count } of { $group } safe
evacuation-safe-name-take-back = Safe<span class="unseen">: { $name }, take back</span>
evacuation-tick-name-as-safe = Tick<span class="unseen"> { $name } as safe</span>
evacuation-admitted-not-in-the-list-of-attendees = Admitted, not in the list of attendees
evacuation-earlier-evacuations = Earlier evacuations
