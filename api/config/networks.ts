/** A chain that commands know by name. */
export interface KnownNetwork {
  /** For `--network` and `--chain`. */
  name: string;
  chainId: number;
  /** How people call it. */
  title: string;
  /** The variable with the URL of a node. */
  rpcVariable: string;
  explorerUrl: string;
  /** The coin that pays for transactions, as people and faucets call it. */
  coin: string;
  /** A page that gives or lists where to get coins for nothing. */
  faucetUrl: string;
  /** Hardhat's kind of chain. */
  kind: "l1" | "op" | "generic";
}

/** The chains of hardhat.config.ts, `npm run deploy` and `init`. Others are reached by the URL of a node. */
export const NETWORKS = [
  {
    name: "sepolia",
    chainId: 11_155_111,
    title: "Sepolia",
    rpcVariable: "SEPOLIA_RPC_URL",
    explorerUrl: "https://sepolia.etherscan.io",
    coin: "Sepolia ETH",
    faucetUrl: "https://ethereum.org/developers/docs/networks/#sepolia",
    kind: "l1",
  },
  {
    name: "baseSepolia",
    chainId: 84_532,
    title: "Base Sepolia",
    rpcVariable: "BASE_SEPOLIA_RPC_URL",
    explorerUrl: "https://sepolia.basescan.org",
    coin: "Base Sepolia ETH",
    faucetUrl: "https://docs.base.org/base-chain/tools/network-faucets",
    kind: "op",
  },
  {
    name: "polygonAmoy",
    chainId: 80_002,
    title: "Polygon Amoy",
    rpcVariable: "POLYGON_AMOY_RPC_URL",
    explorerUrl: "https://amoy.polygonscan.com",
    coin: "Amoy POL",
    faucetUrl: "https://faucet.polygon.technology/",
    kind: "generic",
  },
] as const satisfies KnownNetwork[];
