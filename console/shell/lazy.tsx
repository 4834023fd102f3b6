import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import type { ScreenProps } from "./href.ts";

/** A screen for the router, which fills exactly the named parts of the screen's path. */
export type AnyScreen = (props: { params: Record<string, string> }) => ComponentChildren;

/** A screen whose code is loaded when it is first shown. */
export function lazy<Names extends string>(load: () => Promise<ComponentType<ScreenProps<Names>>>): AnyScreen {
  let loaded: ComponentType<ScreenProps<Names>> | null = null;
  return function Lazy({ params }) {
    const [Found, setFound] = useState(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (Found !== null) return;
      load().then(
        (component) => {
          loaded = component;
          setFound(() => component);
        },
        () => {
          setFailed(true);
        },
      );
    }, []);
    if (failed) {
      return (
        <ErrorNote
          error={new Error("This part of the console could not be loaded. The service may have been updated.")}
          retry={() => {
            location.reload();
          }}
        />
      );
    }
    return Found === null ? <Loading /> : <Found params={params} />;
  };
}
