import { catalog } from '../../catalog';

export const channelsCatalog = catalog(
  {
    title: 'Channels',
    number: 'WhatsApp number',
    noNumber: 'Waiting for a number',
    status: 'Status',
    statuses: {
      connected: 'connected',
      pending: 'waiting for the number',
      problem: 'messages may not arrive',
    },
    answerer: 'Who answers',
    answererHint: 'Applies from the next message of each contact.',
    contactType: 'Entity type of contacts',
    contactTypeHint:
      'Entities of this type with the contact’s phone number say who writes: agents and their roles know it as actor.entityId',
    noType: 'None',
    id: 'Id',
    phoneNumberId: 'Number at Kapso',
    customerId: 'Customer at Kapso',
    emptyTitle: 'No channels yet',
    empty: 'A channel is a WhatsApp number that an agent answers. Connect one here, or with:',
    emptyMember: 'A channel is a WhatsApp number that an agent answers. An admin connects it.',

    connect: 'Connect number',
    connectTitle: 'Connect a WhatsApp number',
    how: 'Number',
    ways: {
      link: 'A new number',
      number: 'A number already at Kapso',
      simulated: 'A simulated number',
    },
    wayHints: {
      link: 'Creates a link. The owner of the number opens it and connects the number to WhatsApp.',
      number: 'It is already connected at Kapso. Messages reach this environment at once.',
      simulated: 'It exists in development only: to try an agent without an account.',
    },
    customerName: 'Name at Kapso',
    customerNameHint: 'Of the new customer that owns the number there',
    numberId: 'Id of the number',
    numberIdHint: 'At Kapso, under Connected numbers: “Phone number ID”',
    needs: 'Kapso has to be set up first:',
    setUpKapso: 'Set up Kapso',
    setupLink: 'Setup link',
    linkOnce:
      'Send it to the owner of the number. It is not shown again; a new one can be created.',
    openLink: 'Open link',
    newLink: 'Create new setup link',
    newLinkHint:
      'The number is not connected yet. A new link replaces this channel with one that waits in the same way.',

    webhookProblem:
      'The webhook of this number could not be registered, so messages may not arrive.',
    registerAgain: 'Register it again',

    change: 'Save changes',
    templates: 'Templates',
    templatesHint:
      'Outside the 24-hour window only a template can be sent. Kapso and Meta manage them.',
    noTemplates: 'The number has no templates.',

    disconnect: 'Disconnect',
    disconnectTitle: 'Disconnect number',
    disconnectHint: 'Messages and conversations are kept.',
    disconnectQuestion: (number: string) =>
      `Disconnect ${number}? Its webhook is deleted. Messages that are not answered or sent yet end as failed or unknown. Conversations are kept.`,
  },
  {
    title: 'Canales',
    number: 'Número de WhatsApp',
    noNumber: 'Espera un número',
    status: 'Estado',
    statuses: {
      connected: 'conectado',
      pending: 'espera el número',
      problem: 'podrían no llegar mensajes',
    },
    answerer: 'Quién responde',
    answererHint: 'Se aplica desde el próximo mensaje de cada contacto.',
    contactType: 'Tipo de entidad de los contactos',
    contactTypeHint:
      'Las entidades de este tipo con el teléfono del contacto dicen quién escribe: los agentes y sus roles lo conocen como actor.entityId',
    noType: 'Ninguno',
    id: 'Id',
    phoneNumberId: 'Número en Kapso',
    customerId: 'Cliente en Kapso',
    emptyTitle: 'Aún no hay canales',
    empty: 'Un canal es un número de WhatsApp que responde un agente. Conecte uno aquí, o con:',
    emptyMember:
      'Un canal es un número de WhatsApp que responde un agente. Lo conecta un administrador.',

    connect: 'Conectar número',
    connectTitle: 'Conectar un número de WhatsApp',
    how: 'Número',
    ways: {
      link: 'Un número nuevo',
      number: 'Un número que Kapso ya tiene',
      simulated: 'Un número simulado',
    },
    wayHints: {
      link: 'Crea un enlace. El dueño del número lo abre y conecta el número a WhatsApp.',
      number: 'Ya está conectado en Kapso. Los mensajes llegan de inmediato a este entorno.',
      simulated: 'Existe solo en desarrollo: para probar un agente sin una cuenta.',
    },
    customerName: 'Nombre en Kapso',
    customerNameHint: 'Del nuevo cliente al que pertenece el número ahí',
    numberId: 'Id del número',
    numberIdHint: 'En Kapso, en Connected numbers: «Phone number ID»',
    needs: 'Primero hay que configurar Kapso:',
    setUpKapso: 'Configurar Kapso',
    setupLink: 'Enlace de conexión',
    linkOnce: 'Envíelo al dueño del número. No se vuelve a mostrar; se puede crear otro.',
    openLink: 'Abrir el enlace',
    newLink: 'Crear otro enlace de conexión',
    newLinkHint:
      'El número aún no está conectado. Otro enlace reemplaza este canal por uno que espera de la misma manera.',

    webhookProblem: 'No se pudo registrar el webhook de este número; podrían no llegar mensajes.',
    registerAgain: 'Registrarlo de nuevo',

    change: 'Guardar los cambios',
    templates: 'Plantillas',
    templatesHint:
      'Fuera de la ventana de 24 horas solo se puede enviar una plantilla. Las administran Kapso y Meta.',
    noTemplates: 'El número no tiene plantillas.',

    disconnect: 'Desconectar',
    disconnectTitle: 'Desconectar el número',
    disconnectHint: 'Los mensajes y las conversaciones se conservan.',
    disconnectQuestion: (number) =>
      `¿Desconectar ${number}? Se elimina su webhook. Los mensajes sin responder o sin enviar terminan como fallidos o desconocidos. Las conversaciones se conservan.`,
  },
);
