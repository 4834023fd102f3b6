import { Screen } from "../parts/screen.tsx";
import type { ScreenProps } from "../shell/href.ts";

export function CollectionScreen({ params }: ScreenProps<"address">) {
  return <Screen title={params.address}>{null}</Screen>;
}
