import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import { Button } from "./button.tsx";
import { ErrorNote } from "./error-note.tsx";

interface Props {
  title: string;
  /** Called when the person closes it, also by Escape. */
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it and gives it back at the end. Render it only while it is open. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // Closing also returns the focus to the button that opened the dialog.
      dialog?.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button button-quiet" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </div>
      <div class="stack">{children}</div>
    </dialog>
  );
}

interface ConfirmProps extends Props {
  /** Text of the button, a verb: "Revoke". */
  action: string;
  /** The dialog stays open with the error when this fails. */
  onConfirm: () => Promise<unknown>;
  kind?: "primary" | "danger";
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ action, onConfirm, kind = "danger", children, ...rest }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  return (
    <Dialog {...rest}>
      {children}
      {error !== null && <ErrorNote error={error} />}
      <div class="actions">
        <Button onClick={rest.onClose}>Cancel</Button>
        <Button
          kind={kind}
          busy={busy}
          onClick={() => {
            setBusy(true);
            onConfirm().then(rest.onClose, (problem: unknown) => {
              setError(problem);
              setBusy(false);
            });
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
