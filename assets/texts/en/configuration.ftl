configuration-change-task = Change<span class="unseen">: { $task }</span>
configuration-set-here = set here
configuration-locked = locked
configuration-app-configuration = App configuration
configuration-title-and-task = { $title }: { $task }
configuration-these-settings-hold-for-every-app-unless = These settings hold for every app, unless its type or the device itself has others.
configuration-set-only-what-differs = Set only what differs; everything else is as for all apps.
configuration-go-to-the-device = Go to the device
configuration-the-settings-belong-to-the-code = The settings belong to the code <code>{ $code }</code>.
configuration-all-settings-in-one-form = All settings in one form
configuration-remove-all-of-these = Remove all of these
configuration-save-draft = Save draft
configuration-no-app-is-connected-yet = No app is connected yet. <a href="/console/discovery">Connect one</a>.
configuration-confirmed-version = <strong data-live="confirmed">{ $confirmed }</strong> of { $all } confirmed version { $version }
configuration-confirmed = confirmed
configuration-has-none = has none
configuration-has-version = has version { $version }
configuration-not-seen-yet = not seen yet
configuration-and-more = And { $count } more.
configuration-versions = Versions
configuration-in-force-built-in = Version { $version } is in force; it came with Gatepost. Apps get a new version with their next ping, and confirm it with the one after.
configuration-in-force-published = Version { $version } is in force, published { $ago }. Apps get a new version with their next ping, and confirm it with the one after.
configuration-in-force-published-by = Version { $version } is in force, published { $ago } by { $by }. Apps get a new version with their next ping, and confirm it with the one after.
configuration-draft-by = Draft <span class="count">by { $by }, { $ago }</span>
configuration-the-draft-is-the-same-as-the = The draft is the same as the version in force.
configuration-publishing-it-as-version-changes = Publishing it as version { $version } changes:
configuration-publish = Publish
configuration-discard = Discard
configuration-discard-the-draft = Discard the draft? The version in force stays.
configuration-these-settings-hold-for-all-apps = These settings hold for all apps. Locked settings cannot be changed in the app.
configuration-these-settings-hold-for-all-apps-with = These settings hold for all apps, with the draft. Locked settings cannot be changed in the app.
configuration-types-and-devices = Types and devices
configuration-no-type-and-no-device-has-settings = No type and no device has settings of its own.
configuration-for-a-type = For a type
configuration-settings-of-this-type = Settings of this type
configuration-for-the-device-with-the-code = For the device with the code
configuration-settings-of-this-device = Settings of this device
configuration-apps = Apps
configuration-version = Version { $version }
configuration-in-force = in force
configuration-all-versions = All versions
configuration-there-is-a-draft-already-replace-it = There is a draft already. Replace it with version { $version }?
configuration-use-as-draft = Use as draft
configuration-published-at-by = Published { $at } by { $by }.
configuration-no-changes = No changes.
configuration-document = Document
configuration-as-json-the-part = As JSON, the part <code>appConfig</code> of a configuration file
configuration-versions-of-the-app-configuration = Versions of the app configuration
configuration-no-versions-yet = No versions yet
configuration-apps-work-with-the-configuration-that-came = Apps work with the configuration that came with Gatepost. <a href="/console/configuration/edit">Change it</a>, then publish.
configuration-published = Published
configuration-devices-of-the-type = Devices of the type { $kind }
configuration-the-device-with-the-code = The device with the code { $code } (there is none yet)
configuration-value-anew = { $value } anew
configuration-otherwise = Otherwise: { $value }
configuration-name-is-value = { $name } is { $value }
configuration-further-settings-help = Settings that only your apps know, such as uiMode. A value is text or JSON; to remove a setting, empty its value.
configuration-further-settings-help-for-all = Settings that only your apps know, such as uiMode. A value is text or JSON; to remove a setting, empty its value. For all apps: { $others }.
configuration-settings =
    { $count ->
        [one] 1 setting
       *[other] { $count } settings
    }
