import { Screen } from "../parts/screen.tsx";
import type { ScreenProps } from "../shell/href.ts";

export function TokenScreen({ params }: ScreenProps<"address" | "token_id">) {
  return <Screen title={params.token_id}>{null}</Screen>;
}
