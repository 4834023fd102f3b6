import type { ComponentChildren } from "preact";

import { LOCAL_CLI, mayUse } from "../service/session.ts";

interface NeedsScopeProps {
  scope: string;
  /** What the session would do with it: "mint tokens". */
  action: string;
  children: ComponentChildren;
}

/** Shows its children to sessions with the scope, and to the others a sentence that says what is missing. */
export function NeedsScope({ scope, action, children }: NeedsScopeProps) {
  if (mayUse(scope)) return <>{children}</>;
  return <p class="note">{missingScope(scope, action)}</p>;
}

function missingScope(scope: string, action: string): string {
  return `This session may not ${action}: it does not have the scope “${scope}”. ${needsLink()}`;
}

function needsLink(): string {
  return LOCAL_CLI === ""
    ? "Ask the operator for a link with it."
    : `This prints a link with it: ${LOCAL_CLI} console --app NAME --scopes …`;
}
