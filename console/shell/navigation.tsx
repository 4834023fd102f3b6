import { useEffect } from "preact/hooks";
import { useHashLocation } from "wouter-preact/use-hash-location";

import { Icon } from "../parts/icon.tsx";
import { sayProblem, Toasts } from "../parts/toasts.tsx";
import { countApps, hasSeveralApps } from "../service/apps.ts";
import { liveState } from "../service/live.ts";
import { chooseApp, currentApp, isOperator, mayUse, type Session, signOut } from "../service/session.ts";
import { href } from "./href.ts";
import { SearchButton } from "./palette.tsx";
import { offeredScreens, type Screen } from "./routes.ts";

const LIVE_TEXT = {
  off: "No live updates",
  connecting: "Connecting",
  open: "Live",
  lost: "Connection lost. Trying again",
} as const;

/** The heading of the page with the links to the screens, the app, and the end of the session. */
export function Navigation({ session }: { session: Session }) {
  const [path] = useHashLocation();
  return (
    <header class="navigation">
      <a class="brand" href="#/">
        <Icon name="mark" />
        Moneta
      </a>
      <SearchButton />
      <nav aria-label="Main">
        <ul>
          {offeredScreens().map((screen) => (
            <li key={screen.path}>
              <a href={href(screen.path)} aria-current={isCurrent(screen, path) ? "page" : undefined}>
                <Icon name={screen.path.slice(1) || "home"} />
                {screen.nav}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Toasts />
      <SessionPart session={session} />
    </header>
  );
}

/** The state of the connection, the app, and the end of the session. */
function SessionPart({ session }: { session: Session }) {
  const app = currentApp();
  const operator = isOperator();
  useEffect(() => {
    if (operator && mayUse("read")) countApps().catch(sayProblem);
  }, [operator]);
  return (
    <div class="session">
      <div class={`live live-${liveState.value}`} role="status">
        {LIVE_TEXT[liveState.value]}
      </div>
      {app !== null && (
        <div class="session-app">
          <span class="muted">App</span> <bdi>{app.name}</bdi>
        </div>
      )}
      {operator && app !== null && hasSeveralApps.value && (
        <button
          type="button"
          class="button button-small"
          onClick={() => {
            chooseApp(null);
            location.hash = "#/";
          }}
        >
          Change app
        </button>
      )}
      <div class="session-chain muted">Chain {session.chain_id}</div>
      <button
        type="button"
        class="button button-small"
        onClick={() => {
          signOut().catch(sayProblem);
        }}
      >
        Sign out
      </button>
    </div>
  );
}

function isCurrent(screen: Screen, path: string): boolean {
  return path === screen.path || (screen.path !== "/" && path.startsWith(`${screen.path}/`));
}
