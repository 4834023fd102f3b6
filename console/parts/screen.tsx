import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  /** The heading, and the title of the page. */
  title: string;
  /** The way back: links to the screens above this one. */
  trail?: ComponentChildren;
  /** Buttons beside the heading. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of a screen. The focus goes to the heading, so that a screen reader says where the person is. */
export function Screen({ title, trail, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before anybody can use the screen: later it could take the focus from a field, and the next key would go to the heading.
  useLayoutEffect(() => {
    // Not when the page opens, and not when a person already works on the screen.
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) heading.current?.focus();
  }, []);
  useEffect(() => {
    document.title = `${title} · Moneta`;
  }, [title]);
  return (
    <div class="screen">
      {trail !== undefined && (
        <nav class="trail" aria-label="Breadcrumb">
          {trail}
        </nav>
      )}
      <div class="screen-head">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
