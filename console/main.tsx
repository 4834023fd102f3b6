import { render } from "preact";

import { startLive } from "./service/live.ts";
import { signIn } from "./service/session.ts";
import { Console } from "./shell/console.tsx";

const root = document.getElementById("console");
if (root === null) throw new Error("The page has no element with the id `console`.");
render(<Console />, root);
startLive();
void signIn();
// A link that is opened in a tab with the console changes only the fragment.
window.addEventListener("hashchange", () => {
  if (/^#\/?code=/.test(location.hash)) void signIn();
});
