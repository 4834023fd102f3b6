import type { ComponentChildren } from "preact";

import type { Pages } from "../service/use-data.ts";
import { Button } from "./button.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Loading } from "./loading.tsx";

interface Props<T> {
  pages: Pages<T>;
  /** Shown instead of an empty list. */
  empty: ComponentChildren;
  children: (items: readonly T[]) => ComponentChildren;
}

/** A listing with a button for the next page. */
export function CursorList<T>({ pages, empty, children }: Props<T>) {
  const { items, next, error, loading, more, reload } = pages;
  if (items.length === 0) {
    if (error !== null) return <ErrorNote error={error} retry={reload} />;
    return loading ? <Loading /> : <>{empty}</>;
  }
  return (
    <>
      {children(items)}
      {error !== null && <ErrorNote error={error} retry={next === null ? reload : more} />}
      {next !== null && error === null && (
        <div class="more">
          <Button busy={loading} onClick={more}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
