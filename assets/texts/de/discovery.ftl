discovery-requests-count = Anfragen <span class="count">{ $count }</span>
discovery-no-requests-yet-open-the-gate-app = Noch keine Anfragen. Die Gate-App auf dem Gerät öffnen und den Code scannen.
discovery-add-an-app-only-if-it-shows = Eine App nur hinzufügen, wenn sie dieselben vier Ziffern zeigt.
discovery-check-digits = Prüfziffern
discovery-already-name = schon { $name }
discovery-from-address-at-created-at = von { $address } um { $created_at }
discovery-may-create-and-change-attendees = Darf Teilnehmer anlegen und ändern
discovery-add-code = { $code } hinzufügen
discovery-add = Hinzufügen
discovery-dismiss-code = { $code } verwerfen
discovery-dismiss = Verwerfen
discovery-added-apps = Hinzugefügte Apps
discovery-no-apps-added-yet = Noch keine Apps hinzugefügt.
discovery-added = Hinzugefügt
discovery-fetched = abgeholt
discovery-shown-for-until-until2 = angezeigt <time data-until="{ $until }">bis { $until2 }</time>
discovery-not-fetched-yet = noch nicht abgeholt
discovery-shown-for = angezeigt für
discovery-until-until = bis { $until }
discovery-missed = verpasst
discovery-the-app-has-its-credentials-new-ones = Die App hat ihre Zugangsdaten. Neue beenden diese sofort. Neue ausgeben?
discovery-give-out-again-to-name = Erneut ausgeben an { $name }
discovery-give-out-again = Erneut ausgeben
discovery-discovery = Gerätesuche
discovery-point-the-app-at-this-code = Die App auf diesen Code richten
discovery-qr-code-of-request-uri = QR-Code von { $request_uri }
discovery-or-type-it-into-the-app = Oder in die App eintippen:
discovery-choose-the-one-on-the-network-that = Den im Netz der Geräte wählen.
discovery-no-app-yet-open-gate-uri-on = Noch keine App? <a href="/gate">{ $gate_uri }</a> auf einem Telefon, Tablet oder Laptop öffnen: Der Browser wird zum Gate.
discovery-each-device-must-trust-this-server-first = Jedes Gerät muss diesem Server zuerst vertrauen: <a href="/gate/trust">{ $trust_uri }</a> auf dem Gerät öffnen.
discovery-requests-accepted-until-clock = Anfragen werden angenommen: <strong><time data-until="{ $until }">bis { $clock }</time></strong>
discovery-ten-more-minutes = Zehn Minuten mehr
discovery-discovery-is-closed-new-requests-are-refused = <strong>Die Gerätesuche ist geschlossen.</strong> Neue Anfragen werden abgelehnt. Wartende lassen sich noch hinzufügen.
discovery-open-for-ten-minutes = Für zehn Minuten öffnen
