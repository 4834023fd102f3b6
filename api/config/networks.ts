/** How a chain charges for the data that it stores on another chain: as a fee beside the gas, or as more gas. */
export type L1DataRules = "none" | "op" | "scroll" | "arbitrum";

/** A chain that commands know by name. Each fact is a hint for people: gas, forks and fees are measured on the chain. */
export interface KnownNetwork {
  /** For `--network` and `--chain`. */
  name: string;
  chainId: number;
  /** How people call it. */
  title: string;
  /** Whether its coins cost nothing. */
  test: boolean;
  explorerUrl: string;
  /** The coin that pays for transactions, as people and faucets call it. */
  coin: string;
  /** A page that gives or lists where to get coins of a test network for nothing; null: none is known. */
  faucetUrl: string | null;
  /** Hardhat's kind of chain. */
  kind: "l1" | "op" | "generic";
  /** Seconds from one block to the next; null: not known. */
  blockSeconds: number | null;
  /** Blocks to wait for: `init` sets CONFIRMATIONS to it. Null: the service's default. */
  confirmations: number | null;
  /** The type of its fees, as far as known. The service needs EIP-1559: `deploy --dry-run` looks at the chain. */
  fees: "EIP-1559" | "legacy" | null;
  l1Data: L1DataRules;
  /** Whether it has delegation (EIP-7702) of the hard fork Prague, as far as known. */
  prague: boolean | null;
  /** Who publishes sources of its contracts. */
  verifiers: readonly ("sourcify" | "etherscan")[];
  /** Whether a batch of 250 requests was settled there with this version. */
  tried: boolean;
}

type Facts = Pick<
  KnownNetwork,
  "kind" | "blockSeconds" | "confirmations" | "fees" | "l1Data" | "prague" | "verifiers" | "tried"
>;

/** What most chains have in common. */
const USUAL: Facts = {
  kind: "generic",
  blockSeconds: null,
  confirmations: null,
  fees: null,
  l1Data: "none",
  prague: null,
  verifiers: ["sourcify", "etherscan"],
  tried: false,
};
/** Fees by EIP-1559, as most chains have them. */
const FEES: Facts = { ...USUAL, fees: "EIP-1559" };
const PRAGUE: Facts = { ...FEES, prague: true };
const ETHEREUM: Facts = { ...PRAGUE, kind: "l1", blockSeconds: 12, confirmations: 12 };
const OP: Facts = { ...PRAGUE, kind: "op", blockSeconds: 2, l1Data: "op" };
const ARBITRUM: Facts = { ...PRAGUE, blockSeconds: 0.25, l1Data: "arbitrum" };
const POLYGON: Facts = { ...FEES, confirmations: 180 };
const BNB: Facts = { ...PRAGUE, blockSeconds: 0.45, confirmations: 80 };
const SCROLL: Facts = { ...PRAGUE, l1Data: "scroll" };
const GNOSIS: Facts = { ...PRAGUE, blockSeconds: 5 };

const FAUCETS: Readonly<Record<string, string>> = {
  sepolia: "https://ethereum.org/developers/docs/networks/#sepolia",
  baseSepolia: "https://docs.base.org/base-chain/tools/network-faucets",
  optimismSepolia: "https://console.optimism.io/faucet",
  arbitrumSepolia: "https://faucet.quicknode.com/arbitrum/sepolia",
  polygonAmoy: "https://faucet.polygon.technology/",
  scrollSepolia: "https://docs.scroll.io/en/user-guide/faucet",
  gnosisChiado: "https://faucet.chiadochain.net/",
  avalancheFuji: "https://faucet.avax-test.network/",
};

/** A chain whose coins are money. */
function main(
  name: string,
  chainId: number,
  title: string,
  coin: string,
  explorer: string,
  facts: Facts,
): KnownNetwork {
  return { ...facts, name, chainId, title, test: false, explorerUrl: `https://${explorer}`, coin, faucetUrl: null };
}

/** A chain whose coins cost nothing. */
function test(...facts: Parameters<typeof main>): KnownNetwork {
  return { ...main(...facts), test: true, faucetUrl: FAUCETS[facts[0]] ?? null };
}

/** The chains of hardhat.config.ts, `npm run deploy` and `init`. Others are reached by the URL of a node. */
export const NETWORKS: readonly KnownNetwork[] = [
  main("ethereum", 1, "Ethereum", "ETH", "etherscan.io", ETHEREUM),
  test("sepolia", 11_155_111, "Sepolia", "Sepolia ETH", "sepolia.etherscan.io", ETHEREUM),
  main("base", 8_453, "Base", "ETH on Base", "basescan.org", OP),
  test("baseSepolia", 84_532, "Base Sepolia", "Base Sepolia ETH", "sepolia.basescan.org", OP),
  main("optimism", 10, "OP Mainnet", "ETH on OP Mainnet", "optimistic.etherscan.io", OP),
  test("optimismSepolia", 11_155_420, "OP Sepolia", "OP Sepolia ETH", "sepolia-optimism.etherscan.io", OP),
  main("arbitrum", 42_161, "Arbitrum One", "ETH on Arbitrum One", "arbiscan.io", ARBITRUM),
  test("arbitrumSepolia", 421_614, "Arbitrum Sepolia", "Arbitrum Sepolia ETH", "sepolia.arbiscan.io", ARBITRUM),
  main("polygon", 137, "Polygon", "POL", "polygonscan.com", { ...POLYGON, blockSeconds: 2 }),
  test("polygonAmoy", 80_002, "Polygon Amoy", "Amoy POL", "amoy.polygonscan.com", POLYGON),
  main("bnb", 56, "BNB Smart Chain", "BNB", "bscscan.com", BNB),
  test("bnbTestnet", 97, "BNB Smart Chain Testnet", "tBNB", "testnet.bscscan.com", BNB),
  main("linea", 59_144, "Linea", "ETH on Linea", "lineascan.build", { ...PRAGUE, blockSeconds: 2 }),
  test("lineaSepolia", 59_141, "Linea Sepolia", "Linea Sepolia ETH", "sepolia.lineascan.build", USUAL),
  main("scroll", 534_352, "Scroll", "ETH on Scroll", "scrollscan.com", { ...SCROLL, blockSeconds: 3 }),
  test("scrollSepolia", 534_351, "Scroll Sepolia", "Scroll Sepolia ETH", "sepolia.scrollscan.com", SCROLL),
  main("gnosis", 100, "Gnosis", "xDAI", "gnosisscan.io", GNOSIS),
  test("gnosisChiado", 10_200, "Gnosis Chiado", "Chiado xDAI", "gnosis-chiado.blockscout.com", {
    ...GNOSIS,
    verifiers: ["sourcify"],
  }),
  main("avalanche", 43_114, "Avalanche C-Chain", "AVAX", "snowtrace.io", USUAL),
  test("avalancheFuji", 43_113, "Avalanche Fuji", "Fuji AVAX", "testnet.snowtrace.io", USUAL),
];

/** The name of the network that `npm run deploy` reaches by RPC_URL alone: any chain. */
export const CUSTOM_NETWORK = "custom";

/** The variable with the URL of a node of a network. */
export function rpcVariable(name: string): string {
  if (name === CUSTOM_NETWORK) return "RPC_URL";
  return `${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_RPC_URL`;
}

/** What is known of a chain; undefined: it has no name here. */
export function networkOf(chainId: bigint): KnownNetwork | undefined {
  return NETWORKS.find((network) => BigInt(network.chainId) === chainId);
}
