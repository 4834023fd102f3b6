import { useEffect } from "preact/hooks";

import { Button } from "../parts/button.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Screen } from "../parts/screen.tsx";
import { listApps } from "../service/apps.ts";
import { chooseApp } from "../service/session.ts";
import { usePages } from "../service/use-data.ts";
import { href } from "./href.ts";

/** An operator's session sees all apps. The screens show one at a time. The only app is chosen at once. */
export function ChooseApp() {
  const pages = usePages(listApps, []);
  const [only, ...others] = pages.items;
  const isOnlyOne = only !== undefined && others.length === 0 && pages.next === null;
  useEffect(() => {
    if (isOnlyOne) chooseApp({ app_id: only.app_id, name: only.name });
  }, [isOnlyOne]);
  return (
    <Screen title="Choose an app">
      <p class="muted">
        You are signed in as the operator. Choose the app whose collections and requests you want to see.
      </p>
      <CursorList
        pages={pages}
        empty={
          <EmptyState title="No apps yet">
            <a class="button button-primary" href={href("/operator/:part", { part: "apps" })}>
              Create one
            </a>
          </EmptyState>
        }
      >
        {(apps) => (
          <ul class="choices">
            {apps.map((app) => (
              <li key={app.app_id}>
                <Button
                  onClick={() => {
                    chooseApp({ app_id: app.app_id, name: app.name });
                  }}
                >
                  <bdi>{app.name}</bdi>
                </Button>
              </li>
            ))}
          </ul>
        )}
      </CursorList>
    </Screen>
  );
}
