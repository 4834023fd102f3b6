/*
 * While it is loaded, uPlot formats numbers in the language of the browser. Some browsers name a language that `Intl`
 * refuses, such as `en-US@posix`: uPlot would fail then. So `navigator` names another language until uPlot is loaded. The
 * modules of one file run without a pause, so nothing else sees that.
 */

const replaced = !isValid(navigator.language);
if (replaced) Object.defineProperty(navigator, "language", { configurable: true, value: "en-US" });

/** To be called when uPlot is loaded. */
export function restoreLanguage(): void {
  // The property of the object hid that of its prototype.
  if (replaced) Reflect.deleteProperty(navigator, "language");
}

function isValid(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
