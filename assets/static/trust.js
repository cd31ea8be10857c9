// The live check of /gate/trust: does this device trust the server's certificate?

if (typeof document !== "undefined") {
  // What a page says in its language, by the English words.
  const say = (words) => JSON.parse(document.body.dataset.texts || "{}")[words] ?? words;
  const check = document.getElementById("check");
  const result = document.getElementById("result");

  const show = (kind, text) => {
    result.className = `notice ${kind}`;
    result.textContent = text;
  };

  // Over HTTPS this page may be here because somebody clicked through a warning. Browsers register a service
  // worker, which the gate app needs, only where the certificate is trusted.
  const registers = async () => {
    const scope = "/gate/trust/check/";
    const registration = await navigator.serviceWorker.register("/gate/trust/trust.js", { scope });
    await registration.unregister();
    return true;
  };

  const answers = async () => {
    const options = { cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(5000) };
    return (await fetch(check.dataset.url, options)).ok;
  };

  const look = async () => {
    show("", say("Checking …"));
    const test = location.protocol === "https:" && "serviceWorker" in navigator ? registers : answers;
    if (await test().catch(() => false)) {
      show("good", say("Trusted: this device trusts the server."));
    } else {
      show("warn", say("Not yet: this device does not trust the server."));
    }
  };

  if (check) {
    check.hidden = false;
    document.getElementById("again").addEventListener("click", look);
    // Back from the settings.
    document.addEventListener("visibilitychange", () => document.hidden || look());
    look();
  }
}
