import { signal } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Found, search } from "../service/search.ts";
import { currentApp, mayUse } from "../service/session.ts";
import { href } from "./href.ts";
import { offeredScreens } from "./routes.ts";

/** A key press within this time after another one starts no call of its own, in milliseconds. */
const PAUSE_MS = 120;
const MAX_LENGTH = 300;

const isOpen = signal(false);

/** The key that opens the search beside K, as the keyboard of this system names it. */
const KEY = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** Opens the search over everything, as Ctrl-K and Cmd-K do. */
export function SearchButton() {
  return (
    <button
      type="button"
      class="button button-small search-button"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => {
        isOpen.value = true;
      }}
    >
      <Icon name="search" />
      <span>Search</span> <kbd>{KEY} K</kbd>
    </button>
  );
}

/** The search, while it is open. The shell shows it once. */
export function Palette() {
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Another dialog asks something first.
      if (document.querySelector("dialog[open]") === null) isOpen.value = true;
    };
    document.addEventListener("keydown", open);
    return () => {
      document.removeEventListener("keydown", open);
    };
  }, []);
  return isOpen.value ? <Search onClose={() => (isOpen.value = false)} /> : null;
}

function Search({ onClose }: { onClose: () => void }) {
  const id = useId();
  const [text, setText] = useState("");
  const results = useFound(text.trim());
  const { found, isCurrent, error } = results;
  const choice = useChoice(results, (item) => {
    onClose();
    location.hash = item.href;
  });
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        autofocus
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_LENGTH}
        aria-label="Search for"
        aria-describedby={`${id}-hint`}
        aria-autocomplete="list"
        aria-expanded={found.length > 0}
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? optionId(id, choice.active) : undefined}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
        }}
        onKeyDown={choice.onKeyDown}
      />
      <p class="hint muted" id={`${id}-hint`}>
        The beginning of a user, of a collection’s name or of its symbol. Or a whole address, token (address and
        number), request, reference or transaction.
      </p>
      {error !== null && <ErrorNote error={error} />}
      <Options id={id} found={found} choice={choice} />
      <p class="muted" role="status">
        {isCurrent && error === null ? countOf(found.length) : ""}
      </p>
    </Dialog>
  );
}

interface Choice {
  /** Which result is marked. */
  active: number;
  mark: (index: number) => void;
  open: (item: Found | undefined) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

const STEPS: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The result that the keys mark and open. */
function useChoice({ found, isCurrent }: SearchState, opened: (item: Found) => void): Choice {
  const [active, mark] = useState(0);
  // Enter may come before the results of the last letters do. It opens the first one then.
  const isWaiting = useRef(false);
  const open = (item: Found | undefined) => {
    if (item !== undefined) opened(item);
  };
  useEffect(() => {
    mark(0);
    if (isWaiting.current && isCurrent) open(found[0]);
    isWaiting.current = false;
  }, [found]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    isWaiting.current = event.key === "Enter" && !isCurrent;
    if (event.key !== "Enter" && step === undefined) return;
    event.preventDefault();
    if (step !== undefined) mark(found.length === 0 ? 0 : (active + step + found.length) % found.length);
    else if (isCurrent) open(found[active]);
  };
  return { active, mark, open, onKeyDown };
}

function Options({ id, found, choice }: { id: string; found: readonly Found[]; choice: Choice }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[choice.active]?.scrollIntoView({ block: "nearest" });
  }, [choice.active]);
  return (
    <ul class="found" role="listbox" id={id} aria-label="Results" ref={list}>
      {found.map((item, index) => (
        <li
          key={item.href}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === choice.active}
          onClick={() => {
            choice.open(item);
          }}
          onPointerMove={() => {
            choice.mark(index);
          }}
        >
          <span class="muted">{item.kind}</span> <bdi>{item.name}</bdi>
          {item.detail !== undefined && <bdi class="muted">{item.detail}</bdi>}
        </li>
      ))}
    </ul>
  );
}

function optionId(list: string, index: number): string {
  return `${list}-${index.toString()}`;
}

function countOf(results: number): string {
  if (results === 0) return "Nothing found.";
  return results === 1 ? "1 result" : `${results.toString()} results`;
}

interface Results {
  /** What was searched for. */
  text: string;
  found: readonly Found[];
  error: unknown;
}

interface SearchState {
  found: readonly Found[];
  /** Whether the results are those of the text. */
  isCurrent: boolean;
  error: unknown;
}

/** What a text leads to. A new text ends the calls of the one before. */
function useFound(text: string): SearchState {
  const [results, setResults] = useState<Results>(() => ({ text: "", found: screens(""), error: null }));
  useEffect(() => {
    const found = screens(text);
    if (text === "" || currentApp() === null || !mayUse("read")) {
      setResults({ text, found, error: null });
      return;
    }
    const calls = new AbortController();
    const timer = setTimeout(() => {
      search(text, calls.signal).then(
        (others) => {
          if (!calls.signal.aborted) setResults({ text, found: [...others, ...found], error: null });
        },
        (error: unknown) => {
          if (!calls.signal.aborted) setResults({ text, found, error });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      calls.abort();
    };
  }, [text]);
  return { ...results, isCurrent: results.text === text };
}

/** Screens of the navigation whose names have a word that begins with the text. */
function screens(text: string): Found[] {
  const wanted = text.toLowerCase();
  return offeredScreens().flatMap(({ nav = "", path }) => {
    const name = nav.toLowerCase();
    const isMeant = name.startsWith(wanted) || name.split(" ").some((word) => word.startsWith(wanted));
    return isMeant ? [{ kind: "Screen", name: nav, href: href(path) }] : [];
  });
}
