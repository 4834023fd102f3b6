import { ChainUnavailable } from "../../api/chain/errors.ts";
import { LOCAL_CHAIN_ID } from "../../api/chain/local-contracts.ts";
import { Rpc } from "../../api/chain/rpc.ts";
import { environment } from "../../api/config/environment.ts";
import { Problem } from "./problem.ts";
import { TourError } from "./tour/check.ts";
import { runTour } from "./tour/main.ts";

/**
 * `npm run tour -- <token>`: the tour of `npm start`, with a service and a local chain that run already. BASE_URL and RPC_URL
 * name them.
 */
const { BASE_URL: baseUrl = "http://localhost:3000", RPC_URL: rpcUrl = "http://127.0.0.1:8545" } = environment();

async function main(): Promise<void> {
  const token = process.argv[2]?.trim() ?? "";
  if (token === "") {
    throw new Problem(
      "The tour needs the token of an app: npm run tour -- <token>. Create one with `npm run cli -- app create my-app`.",
    );
  }
  await requireLocalChain();
  await requireService();
  const stop = new AbortController();
  process.once("SIGINT", () => {
    stop.abort(new Problem("stopped"));
  });
  await runTour({ baseUrl, token, rpcUrl, signal: stop.signal });
}

/** The tour spends coins of the accounts that every local chain has. */
async function requireLocalChain(): Promise<void> {
  const chainId = await new Rpc(rpcUrl).call("eth_chainId", []).catch((error: unknown) => {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Problem(`No chain answers at ${rpcUrl}. Start one with \`npm run chain\`, or set RPC_URL.`);
  });
  if (BigInt(String(chainId)) === LOCAL_CHAIN_ID) return;
  throw new Problem(`The tour is for a local chain (chain id ${LOCAL_CHAIN_ID}). ${rpcUrl} is another one.`);
}

async function requireService(): Promise<void> {
  try {
    await fetch(new URL("/healthz", baseUrl));
  } catch {
    throw new Problem(`No service answers at ${baseUrl}. Start it with \`npm run api\`, or set BASE_URL.`);
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Problem || error instanceof TourError ? `\n${error.message}` : error);
  process.exitCode = 1;
}
