import { NETWORKS, rpcVariable } from "../../api/config/networks.ts";
import { markdownTable } from "./markdown.ts";
const L1_DATA = {
    none: "",
    op: "a fee beside the gas",
    scroll: "a fee beside the gas",
    arbitrum: "as gas",
};
const VERIFIERS = { sourcify: "Sourcify", etherscan: "Etherscan" };
/** The chains that commands know by name, as Markdown. */
export function networksTable() {
    const head = [
        "`--chain`, `--network`",
        "Chain (id)",
        "Node",
        "Block",
        "`CONFIRMATIONS`",
        "Fees",
        "L1 data",
        "EIP-7702",
        "Sources at",
        "Faucet",
        "Batch of 250",
    ];
    return markdownTable(head, NETWORKS.map(rowOf));
}
function rowOf(network) {
    const { name, title, chainId, explorerUrl, blockSeconds, confirmations, fees, l1Data, prague } = network;
    return [
        `\`${name}\``,
        `[${title}](${explorerUrl}) (${chainId.toString()})`,
        `\`${rpcVariable(name)}\``,
        blockSeconds === null ? "?" : `${blockSeconds.toString()} s`,
        confirmations === null ? "12" : confirmations.toString(),
        fees ?? "?",
        L1_DATA[l1Data],
        prague === null ? "?" : prague ? "yes" : "no",
        network.verifiers.map((verifier) => VERIFIERS[verifier]).join(", "),
        network.test ? (network.faucetUrl === null ? "?" : `[faucet](${network.faucetUrl})`) : "",
        network.tried ? "settled" : "not tried",
    ];
}
