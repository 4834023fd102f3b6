import { useEffect } from "preact/hooks";
import { useHashLocation } from "wouter-preact/use-hash-location";

import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { sayProblem, Toasts } from "../parts/toasts.tsx";
import { useAgain } from "../service/again.ts";
import { countApps, hasSeveralApps } from "../service/apps.ts";
import { liveState } from "../service/live.ts";
import { chooseApp, currentApp, isOperator, mayUse, type Session, signOut } from "../service/session.ts";
import { failingWebhooks, readWebhooks } from "../service/webhooks.ts";
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
                {screen.path === "/webhooks" && <Failing />}
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

/** Milliseconds. */
const LOOK_AGAIN = 30_000;

/** How many webhooks do not get their events. No event tells it. */
function Failing() {
  const look = () => {
    // What cannot be read is read again.
    readWebhooks().catch(() => undefined);
  };
  useEffect(() => {
    failingWebhooks.value = [];
    look();
  }, [currentApp()?.app_id]);
  useAgain(true, look, LOOK_AGAIN);
  const count = failingWebhooks.value.length;
  if (count === 0) return null;
  return (
    <span class="badge badge-bad">
      {count}
      <span class="hidden"> failing</span>
    </span>
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
        <Button
          kind="small"
          onClick={() => {
            chooseApp(null);
            location.hash = "#/";
          }}
        >
          Change app
        </Button>
      )}
      <div class="session-chain muted">Chain {session.chain_id}</div>
      <Button
        kind="small"
        onClick={() => {
          signOut().catch(sayProblem);
        }}
      >
        Sign out
      </Button>
    </div>
  );
}

function isCurrent(screen: Screen, path: string): boolean {
  return path === screen.path || (screen.path !== "/" && path.startsWith(`${screen.path}/`));
}
