/*
 * All screens of the console. To add one:
 *
 * 1. Write `screens/<name>.tsx`, or a folder `screens/<name>/` for several files. Export one component. Its `params` are the
 *    parts of the path, decoded: `function TokenScreen({ params }: ScreenProps<"address" | "token_id">)` (shell/href.ts).
 * 2. Add a line to SCREENS below. `lazy(...)` makes a chunk of its own, which is loaded when the screen is first opened. Use it
 *    for all screens except the first. `nav` puts the screen into the navigation.
 * 3. In the screen: `client()` (service/client.ts) calls the API by its typed client. `useData` and `usePages`
 *    (service/use-data.ts) load. `useLive` (service/live.ts) hears the app's events. `<Screen title=...>` (parts/screen.tsx) is
 *    the frame with the only <h1>. `<Loading>`, `<ErrorNote>`, `<EmptyState>`, `<CursorList>` cover what is not there yet.
 *    `toast()` (parts/toasts.tsx) says what was done. `<CopyAs call={callOf(response)} />` offers the call as curl and TypeScript.
 * 4. Links are `<a href={href("/collections/:address", { address })}>`: `href` (shell/href.ts) escapes. URLs from metadata go through
 *    `safeLink` (service/links.ts), pictures through `<Picture>`. Never set innerHTML. The content security policy forbids
 *    inline scripts and style attributes in HTML; `style={{...}}` in JSX works.
 * 5. Styles: classes of styles/*.css; add `styles/<name>.css` and import it in styles/main.css. Use its variables, no new colours.
 * 6. Test it in test/console/<name>.test.ts. Then run `npm run update -- console` and commit console/built.
 */
import { HomeScreen } from "../screens/home.tsx";
import { currentApp, isOperator, mayUse } from "../service/session.ts";
import { type AnyScreen, lazy } from "./lazy.tsx";

export interface Screen {
  /** Path in the fragment of the address, with `:name` for each part that varies. */
  path: string;
  component: AnyScreen;
  /**
   * Text of the link in the navigation. Absent: the screen is reached from others. Its icon is the symbol in
   * api/v1/public/icon.svg with the name of the path.
   */
  nav?: string;
  /** `app`: needs a chosen app (the default). `operator`: needs the operator's session, and no app. */
  needs?: "app" | "operator";
  /** The navigation shows the screen only with this scope. Default: `read`. "": with any. */
  scope?: string;
}

export const SCREENS: readonly Screen[] = [
  { path: "/", component: HomeScreen, nav: "Home", scope: "" },
  {
    path: "/collections",
    component: lazy(async () => (await import("../screens/collections.tsx")).CollectionsScreen),
    nav: "Collections",
  },
  {
    path: "/collections/new",
    scope: "collections",
    component: lazy(async () => (await import("../screens/create-collection.tsx")).CreateCollectionScreen),
  },
  {
    path: "/collections/adopt",
    scope: "collections",
    component: lazy(async () => (await import("../screens/adopt.tsx")).AdoptScreen),
  },
  { path: "/collections/:address/mint", component: lazy(async () => (await import("../screens/mint.tsx")).MintScreen) },
  {
    path: "/collections/:address/import",
    component: lazy(async () => (await import("../screens/import.tsx")).ImportScreen),
  },
  {
    path: "/collections/:address/change",
    component: lazy(async () => (await import("../screens/change-collection.tsx")).ChangeCollectionScreen),
  },
  {
    path: "/collections/:address/freeze",
    component: lazy(async () => (await import("../screens/freeze.tsx")).FreezeScreen),
  },
  {
    path: "/collections/:address/:token_id/change",
    component: lazy(async () => (await import("../screens/change-token.tsx")).ChangeTokenScreen),
  },
  {
    path: "/transfer/:from/:contract/:token_id",
    component: lazy(async () => (await import("../screens/transfer.tsx")).TransferScreen),
  },
  {
    path: "/burn/:from/:contract/:token_id",
    component: lazy(async () => (await import("../screens/transfer.tsx")).BurnScreen),
  },
  {
    path: "/collections/:address",
    component: lazy(async () => (await import("../screens/collection.tsx")).CollectionScreen),
  },
  ...[
    "/collections/:address/named/:search",
    "/collections/:address/of/:owner",
    "/collections/:address/with/:trait_type/:trait_value",
  ].map((path) => ({
    path,
    component: lazy(async () => (await import("../screens/collection.tsx")).CollectionScreen),
  })),
  {
    path: "/collections/:address/:token_id",
    component: lazy(async () => (await import("../screens/token.tsx")).TokenScreen),
  },
  {
    path: "/requests",
    component: lazy(async () => (await import("../screens/requests.tsx")).RequestsScreen),
    nav: "Requests",
  },
  ...["/requests/wallet/:wallet", "/requests/collection/:collection", "/requests/state/:state"].map((path) => ({
    path,
    component: lazy(async () => (await import("../screens/requests.tsx")).RequestsScreen),
  })),
  {
    path: "/requests/:request_id",
    component: lazy(async () => (await import("../screens/request.tsx")).RequestScreen),
  },
  {
    path: "/wallets",
    component: lazy(async () => (await import("../screens/wallets.tsx")).WalletsScreen),
    nav: "Wallets",
  },
  {
    path: "/wallets/:address",
    component: lazy(async () => (await import("../screens/wallet.tsx")).WalletScreen),
  },
  {
    path: "/webhooks",
    component: lazy(async () => (await import("../screens/webhooks.tsx")).WebhooksScreen),
    nav: "Webhooks",
    scope: "webhooks",
  },
  {
    path: "/webhooks/:id",
    component: lazy(async () => (await import("../screens/webhook.tsx")).WebhookScreen),
    scope: "webhooks",
  },
  {
    path: "/tokens",
    component: lazy(async () => (await import("../screens/tokens.tsx")).TokensScreen),
    nav: "API keys",
  },
  {
    path: "/operator",
    component: lazy(async () => (await import("../screens/operator.tsx")).OperatorScreen),
    nav: "Operator",
    needs: "operator",
  },
  {
    path: "/operator/:part",
    component: lazy(async () => (await import("../screens/operator.tsx")).OperatorScreen),
    needs: "operator",
  },
];

/** The screens that the navigation has for this session. */
export function offeredScreens(): Screen[] {
  return SCREENS.filter(({ nav, needs = "app", scope = "read" }) => {
    if (nav === undefined) return false;
    return needs === "operator" ? isOperator() : currentApp() !== null && (scope === "" || mayUse(scope));
  });
}
