import type { JsonRpcProvider } from "ethers";

import { createApp } from "../../api/operator/create-app.ts";
import type { Service } from "../../api/context/service.ts";
import { ApiClient } from "./api-client.ts";
import { startNode, type TestNode } from "./node.ts";
import { type Interception, type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { temporaryFolder } from "./folder.ts";
import { startTestService } from "./service.ts";

/** The whole service on a real node, with a proxy in between that lies where a test says so, and an app that calls it. */
export class ProxiedService {
  readonly node: TestNode;
  readonly #proxy: RpcProxy;
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;
  #service: (Service & { baseUrl: string }) | null = null;
  #token = "";
  /** Valid until the service is started again. */
  api!: ApiClient;

  private constructor(node: TestNode, proxy: RpcProxy, folder: Awaited<ReturnType<typeof temporaryFolder>>) {
    this.node = node;
    this.#proxy = proxy;
    this.#folder = folder;
  }

  static async start(env: Record<string, string> = {}): Promise<ProxiedService> {
    const node = await startNode();
    const proxied = new ProxiedService(node, await startRpcProxy(node.url), await temporaryFolder());
    await proxied.run(env);
    proxied.#token = (await createApp(proxied.service, "proxied")).token;
    proxied.#connect();
    return proxied;
  }

  get service(): Service & { baseUrl: string } {
    if (this.#service === null) throw new Error("the service does not run");
    return this.#service;
  }

  get provider(): JsonRpcProvider {
    return this.node.provider;
  }

  get intercept(): Interception {
    return this.#proxy.intercept;
  }

  set intercept(intercept: Interception) {
    this.#proxy.intercept = intercept;
  }

  /** Starts the service on what it kept, with these settings. */
  async run(env: Record<string, string>): Promise<void> {
    this.#service = await startTestService({ rpcUrl: this.#proxy.url, dataDir: this.#folder.path, env });
    this.#connect();
  }

  async halt(): Promise<void> {
    await this.service.stop();
  }

  /** The node is honest again. */
  relent(): void {
    this.#proxy.intercept = () => undefined;
  }

  async end(): Promise<void> {
    await this.halt();
    await this.#proxy.stop();
    await this.node.stop();
    await this.#folder.remove();
  }

  #connect(): void {
    this.api = ApiClient.at(this.service.baseUrl, this.#token);
  }
}
