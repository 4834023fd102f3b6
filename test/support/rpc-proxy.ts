import { type Interception, type RpcProxy, startRpcProxy } from "../../scripts/scene/rpc-proxy.ts";

export { type Interception, type RpcProxy, startRpcProxy };
