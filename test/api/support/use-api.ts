import { type Lifetime, useResource } from "../../support/use-resource.ts";
import { type ApiOptions, startApi, type TestApi } from "./api.ts";

/** Gives the tests of a `describe` block a new HTTP side of the service. */
export function useApi({ per = "test", ...options }: ApiOptions & { per?: Lifetime } = {}): TestApi {
  return useResource({ open: () => startApi(options), close: (api) => api.close(), per });
}
