/** The same object with other methods. */
export function withMethods<T extends object>(object: T, methods: Partial<T>): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === "function" ? (value.bind(name in methods ? methods : target) as unknown) : value;
    },
  });
}
