/** Keeps a gate's screen on; a hidden page lets go of the lock. @param {() => void} onBack the page is seen again */
export function keepAwake(onBack) {
  const ask = () => document.hidden || navigator.wakeLock?.request("screen").catch(() => {});
  document.addEventListener("visibilitychange", () => {
    ask();
    if (!document.hidden) onBack();
  });
  ask();
}
