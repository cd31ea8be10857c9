readers-tag-to-follow = Tag to follow
readers-epc-or-the-code-of-an-attendee = EPC, or the code of an attendee
readers-follow = Follow
readers-put-on-a-badge-with-this-tag = Put on a badge with this tag, and walk as attendees will: through each door, into each corner, and past the doors of other rooms.
readers-followed-since-since-for-15-minutes-at = Followed since { $since }, for 15 minutes at most.
readers-no-antenna-has-heard-this-tag-yet = No antenna has heard this tag yet.
readers-antenna = Antenna
readers-level-now = Level now
readers-best-level = Best level
readers-reads = Reads
readers-reader-antenna-antenna = { $reader }, antenna { $antenna }
readers-strongest = strongest
readers-fmt-dbm = { $fmt } dBm
readers-not-heard = not heard
readers-this-walk-suggests-ignore-reads-below-rssi = This walk suggests: ignore reads below <strong>{ $rssi_floor_dbm } dBm</strong> (now { $floor }), and move people at a lead of <strong>{ $move_db } dB</strong> (now { $move_db2 }).
readers-set-both-under-settings = Set both under <a id="settings" href="/console/settings">Settings</a>
readers-an-administrator-sets-both-under-settings = An administrator sets both under <em>Settings</em>
readers-or-a-place-overrides-them-in-data = or a place overrides them in <code>data.Presence</code>.
readers-walk-on-after-some-twenty-seconds-of = Walk on: after some twenty seconds of reads this page suggests thresholds.
readers-no-readers-answered = No readers answered
readers-readers-announce-themselves-as-llrp-tcp-if = Readers announce themselves as <code>_llrp._tcp</code> if that is switched on. Otherwise enter the address, which stands on the reader's display or in your router. <a href="/console/readers/new">Enter a reader</a>
readers-reader = Reader
readers-added = added
readers-add-a-reader = Add a reader
readers-find-readers-on-the-network = Find readers on the network
readers-calibrate = Calibrate
readers-tags-to-encode = Tags to encode
readers-no-readers-yet = No readers yet
readers-uhf-readers-notice-tags-in-badges-from = UHF readers notice tags in badges from metres away, and record who was where without queues.
readers-find-readers-on-the-network-or-enter = <a href="/console/readers/find">Find readers on the network</a> or <a href="/console/readers/new">enter one</a>. <a href="/handbook/readers">How to choose and mount a reader</a>
readers-down-of-count-readers-down = { $down } of { $count } readers down
readers-reader-2 = reader
readers-readers = readers
readers-people = people
readers-noticed-now = noticed now
readers-waiting-entries-and-exits-waiting-to-be = { $waiting } entries and exits waiting to be recorded
readers-lost-entries-and-exits-lost = { $lost } entries and exits lost
readers-clock-line = clock { $line }
readers-reads-s = reads/s
readers-tag = tag
readers-tags = tags
readers-unknown-reads-of-unknown-tags = { $unknown } reads of unknown tags
readers-ignored-ignored-by-prefix = { $ignored } ignored by prefix
readers-dropped-dropped = { $dropped } dropped
readers-none-dropped = none dropped
readers-posts-to-path-of-this-server-with = Posts to <code>{ $path }</code> of this server, with a client's id and secret (HTTP Basic).
readers-problems-of-name = Problems of { $name }
readers-hears = Hears
readers-reads-s-2 = Reads/s
readers-level = Level
readers-last-read = Last read
readers-not-connected = not connected
readers-change-value-name = Change{ $value }<span class="unseen">{ $name }</span>
readers-device-name = Device<span class="unseen"> { $name }</span>
readers-switched-off = Switched off:
readers-unknown-tags = Unknown tags
readers-tags-that-no-attendee-has-by-the = Tags that no attendee has, by the first digits of their EPC. When an import or an edit gives one to an attendee as <code>uhfId</code>, its last read is recorded as <em>seen</em>.
readers-begins-with = Begins with
readers-for-example = For example
readers-forget-tags-that-begin-with-prefix = Forget<span class="unseen"> tags that begin with { $prefix }</span>
readers-with-a-tag-number-uhfid-count-without = With a tag number (<code>uhfId</code>): <strong>{ $count }</strong>. Without: <strong>{ $without_tag }</strong>.
readers-give-a-tag-number-to-everybody-who = Give a tag number to everybody who has none ({ $count })? Nothing takes that back at once.
readers-tag-numbers-begin-with = Tag numbers begin with
readers-2-to-10-hexadecimal-digits-the-attendees = 2 to 10 hexadecimal digits. The attendee's number follows, 24 digits in all. Set the same prefix at your readers, so that other tags are ignored.
readers-give-everybody-a-number = Give everybody a number
readers-download-the-list-for-a-badge-printer = Download the list for a badge printer
