import { type ApiOptions, startApi, type TestApi } from "./api.ts";

interface UseOptions extends ApiOptions {
  /** Each test of the block gets a new API, with an empty database. */
  per?: "test";
}

/** Gives the tests of a `describe` block an API. It runs only while they run. */
export function useApi({ per, ...options }: UseOptions = {}): TestApi {
  let running: TestApi | null = null;
  const [begin, end] = per === "test" ? [beforeEach, afterEach] : [before, after];
  begin("start the API", async () => {
    running = await startApi(options);
  });
  end("stop the API", () => running?.close());
  // Stands for the API that runs, which does not exist yet.
  return new Proxy({} as TestApi, {
    get: (_target, name) => {
      if (running === null) throw new Error("The API runs only during tests.");
      const value: unknown = Reflect.get(running, name, running);
      return typeof value === "function" ? (value.bind(running) as unknown) : value;
    },
    set: (_target, name, value) => running !== null && Reflect.set(running, name, value, running),
  });
}
