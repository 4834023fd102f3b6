import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  /** null: not loaded yet. It stays while a reload runs. */
  data: T | null;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

/** Loads when the component appears and when `keys` change. Answers of an earlier load are dropped. */
export function useData<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown; loading: boolean }>({
    data: null,
    error: null,
    loading: true,
  });
  const run = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const start = useCallback((keep: boolean) => {
    const own = ++run.current;
    setState((old) => ({ data: keep ? old.data : null, error: null, loading: true }));
    latest.current().then(
      (data) => {
        if (own === run.current) setState({ data, error: null, loading: false });
      },
      (error: unknown) => {
        if (own === run.current) setState((old) => ({ ...old, error, loading: false }));
      },
    );
  }, []);
  useEffect(() => {
    start(false);
    return () => {
      run.current++;
    };
  }, keys);
  return {
    ...state,
    reload: () => {
      start(true);
    },
  };
}

export interface Page<T> {
  items: readonly T[];
  /** Cursor of the next page; null at the end. */
  next: string | null;
}

export interface Pages<T> extends Page<T> {
  error: unknown;
  loading: boolean;
  /** Loads the next page. */
  more: () => void;
  /** Loads the first page again. */
  reload: () => void;
  /**
   * Replaces what is shown by what `read` answers, such as after events. false: nothing was replaced, because a page is being loaded
   * or was loaded meanwhile, and the two would not fit together.
   */
  readAgain: (read: (shown: Page<T>) => Promise<Page<T>>) => Promise<boolean>;
}

interface PagesState<T> {
  items: readonly T[];
  next: string | null;
  error: unknown;
  loading: boolean;
}

/** A listing with cursors, page by page. It starts again when `keys` change. */
export function usePages<T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  keys: readonly unknown[],
): Pages<T> {
  const [state, setState] = useState<PagesState<T>>({ items: [], next: null, error: null, loading: true });
  const run = useRef(0);
  /** The run of the page that is being loaded. */
  const busy = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const shown = useRef(state);
  shown.current = state;
  const fetchPage = useCallback((cursor: string | undefined) => {
    const own = ++run.current;
    busy.current = own;
    setState((old) => ({ ...old, error: null, loading: true }));
    latest.current(cursor).then(
      ({ items, next }) => {
        if (own !== run.current) return;
        busy.current = 0;
        setState((old) => ({
          items: cursor === undefined ? items : [...old.items, ...items],
          next,
          error: null,
          loading: false,
        }));
      },
      (error: unknown) => {
        if (own !== run.current) return;
        busy.current = 0;
        setState((old) => ({ ...old, error, loading: false }));
      },
    );
  }, []);
  useEffect(() => {
    setState({ items: [], next: null, error: null, loading: true });
    fetchPage(undefined);
    return () => {
      run.current++;
    };
  }, keys);
  return {
    ...state,
    more: () => {
      if (state.next !== null) fetchPage(state.next);
    },
    reload: () => {
      fetchPage(undefined);
    },
    readAgain: async (read) => {
      const own = run.current;
      if (shown.current.loading || busy.current !== 0) return false;
      const page = await read(shown.current);
      if (own !== run.current) return false;
      setState((old) => ({ ...old, ...page }));
      return true;
    },
  };
}
