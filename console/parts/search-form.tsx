import { useState } from "preact/hooks";

import { Button } from "./button.tsx";
import { Field } from "./field.tsx";

interface Props {
  label: string;
  hint: string;
  error?: string | null;
  busy?: boolean;
  maxLength?: number;
  /** @param text what was typed, with the space around it. It may be empty. */
  onSearch: (text: string) => void;
}

/** One field, whose text is searched for when it is sent. */
export function SearchForm({ label, hint, error = null, busy = false, maxLength, onSearch }: Props) {
  const [text, setText] = useState("");
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text);
      }}
    >
      <Field label={label} hint={hint} error={error}>
        {(control) => (
          <input
            {...control}
            type="search"
            autocomplete="off"
            spellcheck={false}
            maxLength={maxLength}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" busy={busy}>
        Find
      </Button>
    </form>
  );
}
