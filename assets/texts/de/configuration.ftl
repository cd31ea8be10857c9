configuration-change-task = Ändern<span class="unseen">: { $task }</span>
configuration-set-here = hier gesetzt
configuration-locked = gesperrt
configuration-app-configuration = App-Konfiguration
configuration-title-and-task = { $title }: { $task }
configuration-these-settings-hold-for-every-app-unless = Diese Einstellungen gelten für jede App, außer ihr Typ oder das Gerät selbst hat andere.
configuration-set-only-what-differs = Nur setzen, was abweicht; alles andere ist wie für alle Apps.
configuration-go-to-the-device = Zum Gerät
configuration-the-settings-belong-to-the-code = Die Einstellungen gehören zum Code <code>{ $code }</code>.
configuration-all-settings-in-one-form = Alle Einstellungen in einem Formular
configuration-remove-all-of-these = Alle diese entfernen
configuration-save-draft = Entwurf speichern
configuration-no-app-is-connected-yet = Noch ist keine App verbunden. <a href="/console/discovery">Eine verbinden</a>.
configuration-confirmed-version = <strong data-live="confirmed">{ $confirmed }</strong> von { $all } haben Version { $version } bestätigt
configuration-confirmed = bestätigt
configuration-has-none = hat keine
configuration-has-version = hat Version { $version }
configuration-not-seen-yet = noch nicht gesehen
configuration-and-more = Und { $count } weitere.
configuration-versions = Versionen
configuration-in-force-built-in = Version { $version } gilt; sie kam mit Gatepost. Apps bekommen eine neue Version mit dem nächsten Ping und bestätigen sie mit dem danach.
configuration-in-force-published = Version { $version } gilt, veröffentlicht { $ago }. Apps bekommen eine neue Version mit dem nächsten Ping und bestätigen sie mit dem danach.
configuration-in-force-published-by = Version { $version } gilt, veröffentlicht { $ago } von { $by }. Apps bekommen eine neue Version mit dem nächsten Ping und bestätigen sie mit dem danach.
configuration-draft-by = Entwurf <span class="count">von { $by }, { $ago }</span>
configuration-the-draft-is-the-same-as-the = Der Entwurf gleicht der geltenden Version.
configuration-publishing-it-as-version-changes = Als Version { $version } veröffentlicht, ändert er:
configuration-publish = Veröffentlichen
configuration-discard = Verwerfen
configuration-discard-the-draft = Entwurf verwerfen? Die geltende Version bleibt.
configuration-these-settings-hold-for-all-apps = Diese Einstellungen gelten für alle Apps. Gesperrte lassen sich in der App nicht ändern.
configuration-these-settings-hold-for-all-apps-with = Diese Einstellungen gelten für alle Apps, mit dem Entwurf. Gesperrte lassen sich in der App nicht ändern.
configuration-types-and-devices = Typen und Geräte
configuration-no-type-and-no-device-has-settings = Kein Typ und kein Gerät hat eigene Einstellungen.
configuration-for-a-type = Für einen Typ
configuration-settings-of-this-type = Einstellungen dieses Typs
configuration-for-the-device-with-the-code = Für das Gerät mit dem Code
configuration-settings-of-this-device = Einstellungen dieses Geräts
configuration-apps = Apps
configuration-version = Version { $version }
configuration-in-force = gilt
configuration-all-versions = Alle Versionen
configuration-there-is-a-draft-already-replace-it = Es gibt schon einen Entwurf. Durch Version { $version } ersetzen?
configuration-use-as-draft = Als Entwurf nehmen
configuration-published-at-by = Veröffentlicht { $at } von { $by }.
configuration-no-changes = Keine Änderungen.
configuration-document = Dokument
configuration-as-json-the-part = Als JSON, der Teil <code>appConfig</code> einer Konfigurationsdatei
configuration-versions-of-the-app-configuration = Versionen der App-Konfiguration
configuration-no-versions-yet = Noch keine Versionen
configuration-apps-work-with-the-configuration-that-came = Apps arbeiten mit der Konfiguration, die mit Gatepost kam. Sie <a href="/console/configuration/edit">ändern</a>, dann veröffentlichen.
configuration-published = Veröffentlicht
configuration-devices-of-the-type = Geräte des Typs { $kind }
configuration-the-device-with-the-code = Das Gerät mit dem Code { $code } (noch gibt es keins)
configuration-value-anew = { $value }, neu
configuration-otherwise = Sonst: { $value }
configuration-name-is-value = { $name } ist { $value }
configuration-further-settings-help = Einstellungen, die nur die eigenen Apps kennen, etwa uiMode. Ein Wert ist Text oder JSON; zum Entfernen den Wert leeren.
configuration-further-settings-help-for-all = Einstellungen, die nur die eigenen Apps kennen, etwa uiMode. Ein Wert ist Text oder JSON; zum Entfernen den Wert leeren. Für alle Apps: { $others }.
configuration-settings =
    { $count ->
        [one] 1 Einstellung
       *[other] { $count } Einstellungen
    }
