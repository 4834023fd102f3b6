import type { ComponentChildren } from "preact";

import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import type { Loaded } from "../service/use-data.ts";

interface WithLoadedProps<T> {
  loaded: Loaded<T>;
  children: (data: T) => ComponentChildren;
}

/** Shows its children when the data is there, and before that why it is not. */
export function WithLoaded<T>({ loaded, children }: WithLoadedProps<T>) {
  if (loaded.data !== null) return <>{children(loaded.data)}</>;
  return loaded.error === null ? <Loading /> : <ErrorNote error={loaded.error} retry={loaded.reload} />;
}
