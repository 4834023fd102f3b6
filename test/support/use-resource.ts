interface Resource<T> {
  open: () => Promise<T>;
  /** Runs after `open`. If it fails, the resource is closed all the same. */
  prepare?: (opened: T) => Promise<unknown>;
  close: (opened: T) => Promise<unknown>;
  /** "test": each test gets a new one. "block": all tests of the `describe` block use one. Default "test". */
  per?: Lifetime;
}

export type Lifetime = "test" | "block";

/**
 * Gives the tests of a `describe` block something that must be opened and closed. Registers the hooks.
 * @returns an object that stands for what is open, with its properties and methods. It works only while a test runs. Mocha
 * closes it before the `afterEach` hooks that stand below.
 */
export function useResource<T extends object>({ open, prepare, close, per = "test" }: Resource<T>): T {
  let opened: T | null = null;
  const [begin, end] = per === "test" ? [beforeEach, afterEach] : [before, after];
  begin(async () => {
    opened = await open();
    await prepare?.(opened);
  });
  end(async () => {
    if (opened !== null) await close(opened);
    opened = null;
  });
  const current = (): T => {
    if (opened === null) throw new Error("It is open only while a test runs.");
    return opened;
  };
  return new Proxy({} as T, {
    get: (_target, name) => {
      const value: unknown = Reflect.get(current(), name);
      return typeof value === "function" ? (value.bind(current()) as unknown) : value;
    },
    set: (_target, name, value) => Reflect.set(current(), name, value),
    has: (_target, name) => Reflect.has(current(), name),
    getPrototypeOf: () => Reflect.getPrototypeOf(current()),
    defineProperty: (_target, name, property) => Reflect.defineProperty(current(), name, property),
    deleteProperty: (_target, name) => Reflect.deleteProperty(current(), name),
    // So that `{ ...resource }` is a copy of what is open.
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_target, name) => {
      const found = Reflect.getOwnPropertyDescriptor(current(), name);
      return found === undefined ? undefined : { ...found, configurable: true };
    },
  });
}
