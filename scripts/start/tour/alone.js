import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { LOCAL_CHAIN_ID } from "../../../api/chain/local-contracts.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { Problem } from "../problem.ts";
import { runTour } from "./main.ts";
/**
 * The tour of `npm start`, with a service and a local chain that run already.
 * @throws Problem when the user can correct it.
 */
export async function runTourAlone(options) {
    if (options.token === "") {
        throw new Problem("The tour needs the token of an app: npm run tour -- <token>. Create one with `npm run cli -- app create my-app`.");
    }
    await requireLocalChain(options.rpcUrl);
    await requireService(options.baseUrl);
    await runTour(options);
}
/** The tour spends coins of the accounts that every local chain has. */
async function requireLocalChain(rpcUrl) {
    const chainId = await new Rpc(rpcUrl).call("eth_chainId", []).catch((error) => {
        if (!(error instanceof ChainUnavailable))
            throw error;
        throw new Problem(`No chain answers at ${rpcUrl}. Start one with \`npm run chain\`, or set RPC_URL.`);
    });
    if (BigInt(String(chainId)) === LOCAL_CHAIN_ID)
        return;
    throw new Problem(`The tour is for a local chain (chain id ${LOCAL_CHAIN_ID}). ${rpcUrl} is another one.`);
}
async function requireService(baseUrl) {
    try {
        await fetch(new URL("/healthz", baseUrl));
    }
    catch {
        throw new Problem(`No service answers at ${baseUrl}. Start it with \`npm run api\`, or set MONETA_URL.`);
    }
}
