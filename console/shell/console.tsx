import { Component, type ComponentChildren } from "preact";
import { Route, Router, Switch } from "wouter-preact";
import { useHashLocation } from "wouter-preact/use-hash-location";

import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { Screen as Frame } from "../parts/screen.tsx";
import { currentApp, signedIn } from "../service/session.ts";
import { ChooseApp } from "./choose-app.tsx";
import { Navigation } from "./navigation.tsx";
import { OtherSession } from "./other-session.tsx";
import { Palette } from "./palette.tsx";
import { type Screen, SCREENS } from "./routes.ts";
import { SignedOut } from "./signed-out.tsx";

/** The whole page. */
export function Console() {
  const now = signedIn.value;
  if (now.state === "loading") return <Loading />;
  if (now.state === "asking") return <OtherSession session={now.session} code={now.code} />;
  if (now.state === "signed-out") return <SignedOut problem={now.problem} />;
  return (
    <Router hook={useHashLocation}>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The fragment is the route, so the link moves the focus itself.
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <div class="shell">
        <Navigation session={now.session} />
        <main id="main" tabIndex={-1}>
          <Screens />
        </main>
      </div>
      <Palette />
    </Router>
  );
}

function Screens() {
  const [path] = useHashLocation();
  // A new key starts every screen again when the app changes or another item is opened.
  const key = `${currentApp()?.app_id ?? ""} ${path}`;
  return (
    <Catch key={key}>
      <Switch>
        {SCREENS.map((screen) => (
          <Route path={screen.path} key={screen.path}>
            {(params: Record<string, string | undefined>) => show(screen, params as Record<string, string>)}
          </Route>
        ))}
        <Route>
          <Frame title="Page not found">
            <EmptyState title="There is no page at this address">
              <a href="#/collections">Go to the collections</a>
            </EmptyState>
          </Frame>
        </Route>
      </Switch>
    </Catch>
  );
}

function show({ component: Found, needs = "app" }: Screen, params: Record<string, string>) {
  if (needs === "app" && currentApp() === null) return <ChooseApp />;
  return <Found params={params} />;
}

/** Shows an error of the console itself instead of an empty page. */
class Catch extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: null as unknown };

  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render() {
    return this.state.error === null ? this.props.children : <ErrorNote error={this.state.error} />;
  }
}
