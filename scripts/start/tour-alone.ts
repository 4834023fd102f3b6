import { environment } from "../../api/config/environment.ts";
import { Problem } from "./problem.ts";
import { runTourAlone } from "./tour/main.ts";

/**
 * `npm run tour -- <token> [--verbose]`: the tour of `npm start`, with a service and a local chain that run already. MONETA_URL
 * and RPC_URL name them. MONETA_TOKEN can have the token.
 */
const env = environment();
const { MONETA_URL: baseUrl = "http://localhost:3000", RPC_URL: rpcUrl = "http://127.0.0.1:8545" } = env;
const args = process.argv.slice(2);
const verbose = args.includes("--verbose");
const token = (args.find((argument) => argument !== "--verbose") ?? env["MONETA_TOKEN"] ?? "").trim();

const stop = new AbortController();
process.once("SIGINT", () => {
  stop.abort(new Problem("stopped"));
});
try {
  await runTourAlone({ baseUrl, token, rpcUrl, verbose, signal: stop.signal });
} catch (error) {
  console.error(error instanceof Problem ? `\n${error.message}` : error);
  process.exitCode = 1;
}
