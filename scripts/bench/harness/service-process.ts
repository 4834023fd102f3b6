import { MeasuredService } from "./measured-service.ts";

export const ServiceProcess = { start: MeasuredService.open };
