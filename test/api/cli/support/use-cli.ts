import { rejectionOf } from "../../../support/rejection.ts";
import { startApi, type TestApi } from "../../support/api.ts";
import { jsonOfCli, runCli } from "./run.ts";

/** Gives each test of the `describe` block an API with a database of its own, and the command line on this database. */
export function useCli(): CliFixture {
  const fixture = new CliFixture();
  beforeEach("start the API", async () => {
    fixture.api = await startApi();
  });
  afterEach("stop the API", () => fixture.api.close());
  return fixture;
}

class CliFixture {
  api!: TestApi;

  get env(): { DATABASE_URL: string } {
    return { DATABASE_URL: this.api.databaseUrl };
  }

  /** @returns what the command prints. */
  readonly run = async (...words: string[]): Promise<string> => (await runCli(this.env, ...words)).output;

  readonly json = <T>(...words: string[]): Promise<T> => jsonOfCli<T>(this.env, ...words);

  /** @returns the message of the error that the command fails with. */
  readonly refusal = async (...words: string[]): Promise<string> =>
    (await rejectionOf(runCli(this.env, ...words))).message;
}
