import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { StreamedEvent } from "../../client/events.ts";
import { client } from "./client.ts";
import { currentApp, signedIn } from "./session.ts";

/* One stream of the app's events (server-sent events) for all screens. It runs while someone is signed in. */

type LiveEvent = StreamedEvent["event"];
type Listener = (event: LiveEvent) => void;

/** `off`: no app is chosen, or the service refuses the stream. `lost`: the page connects again by itself. */
export const liveState = signal<"off" | "connecting" | "open" | "lost">("off");

const listeners = new Set<Listener>();

/** Calls the listener for each event while the component is shown. */
export function useLive(listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const call: Listener = (event) => {
      latest.current(event);
    };
    listeners.add(call);
    return () => {
      listeners.delete(call);
    };
  }, []);
}

/** Reads the events of the present app, and those of the next one after a change. Call it once. */
export function startLive(): void {
  effect(() => {
    if (signedIn.value.state !== "signed-in" || currentApp() === null) {
      liveState.value = "off";
      return undefined;
    }
    const end = new AbortController();
    const stream = client().events({
      signal: end.signal,
      onOpen: () => (liveState.value = "open"),
      onLost: () => (liveState.value = "lost"),
    });
    liveState.value = "connecting";
    void read(stream, end.signal);
    return () => {
      end.abort(new DOMException("The session or the app has changed.", "AbortError"));
    };
  });
}

async function read(stream: AsyncIterable<StreamedEvent>, signal: AbortSignal): Promise<void> {
  try {
    for await (const { event } of stream) for (const listener of listeners) listener(event);
  } catch {
    // The service refuses the stream for good, such as for a session without the scope. The screens then show what they
    // loaded, and say by `liveState` that nothing updates them.
    if (!signal.aborted) liveState.value = "off";
  }
}
