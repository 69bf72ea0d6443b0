import { catalog } from '../catalog';

export const workCatalog = catalog(
  {
    region: 'Work in progress',
    of: (done: string, total: string) => `${done} of ${total}`,
    waiting: 'Waiting for the server',
    stop: 'Stop',
    dismiss: 'Close',
    stopped: (done: string) => `Stopped after ${done}`,
    failed: (reason: string) => `Stopped: ${reason}`,
    refused: (count: string) => `${count} refused: show why`,
    refusedTitle: 'What was refused',
    firstOnes: (count: string) => `The first ${count}:`,
    item: 'Item',
    reason: 'Reason',
  },
  {
    region: 'Trabajo en curso',
    of: (done, total) => `${done} de ${total}`,
    waiting: 'Esperando al servidor',
    stop: 'Detener',
    dismiss: 'Cerrar',
    stopped: (done) => `Se detuvo después de ${done}`,
    failed: (reason) => `Se detuvo: ${reason}`,
    refused: (count) => `Rechazos: ${count}. Ver por qué`,
    refusedTitle: 'Lo que se rechazó',
    firstOnes: (count) => `Los primeros ${count}:`,
    item: 'Elemento',
    reason: 'Motivo',
  },
);
