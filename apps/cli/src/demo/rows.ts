import type { JsonObject } from '@parley/contracts';

const product = (
  name: string,
  category: string,
  priceClp: number,
  stock: number,
  description: string,
) => ({
  name,
  category,
  priceClp,
  stock,
  description,
});

const products = [
  product('Paine 2 tent', 'tents', 189_990, 7, 'Three-season tent for two, 2.1 kg, 3,000 mm fly.'),
  product(
    'Paine 3 tent',
    'tents',
    239_990,
    3,
    'Three-season tent for three, 2.8 kg, two entrances.',
  ),
  product(
    'Dientes expedition tent',
    'tents',
    499_990,
    1,
    'Four-season dome for two, five poles, snow skirt.',
  ),
  product('Valle family tent', 'tents', 319_990, 0, 'Standing height, six people, two rooms.'),
  product(
    'Salar −5 °C sleeping bag',
    'sleeping',
    129_990,
    12,
    'Synthetic filling, comfort −5 °C, 1.4 kg.',
  ),
  product(
    'Ojos −18 °C sleeping bag',
    'sleeping',
    289_990,
    4,
    'Goose down, comfort −18 °C, 1.2 kg.',
  ),
  product('Puna sleeping mat', 'sleeping', 54_990, 20, 'Self-inflating, 5 cm, R-value 3.8.'),
  product('Aysén 45 backpack', 'backpacks', 119_990, 9, '45 litres, adjustable back, rain hood.'),
  product(
    'Aysén 65 backpack',
    'backpacks',
    149_990,
    5,
    '65 litres for long treks, adjustable back.',
  ),
  product(
    'Quebrada 20 day pack',
    'backpacks',
    44_990,
    31,
    '20 litres, laptop sleeve, side pockets.',
  ),
  product('Baker rain jacket', 'clothing', 99_990, 14, 'Three layers, 20,000 mm, taped seams.'),
  product('Elqui fleece', 'clothing', 39_990, 26, 'Light fleece with half zip.'),
  product(
    'Tronador trekking boots',
    'footwear',
    139_990,
    8,
    'Leather, waterproof membrane, ankle high.',
  ),
  product('Maipo trail shoes', 'footwear', 84_990, 17, 'Light trail shoes with a grippy sole.'),
  product('Volcán gas stove', 'cooking', 34_990, 22, 'Folding stove, 3,000 W, piezo lighter.'),
  product(
    'Refugio cooking set',
    'cooking',
    49_990,
    11,
    'Two pots, a pan and two cups of hard-anodised aluminium.',
  ),
];

const customer = (name: string, email: string, phone: string, city: string, tier: string) => ({
  name,
  email,
  phone,
  city,
  tier,
});

const customers = [
  customer('Camila Rojas', 'camila.rojas@example.com', '+56900000101', 'Santiago', 'gold'),
  customer(
    'Matías Fuentes',
    'matias.fuentes@example.com',
    '+56900000102',
    'Valparaíso',
    'standard',
  ),
  customer(
    'Antonia Vergara',
    'antonia.vergara@example.com',
    '+56900000103',
    'Puerto Varas',
    'gold',
  ),
  customer('Benjamín Soto', 'benjamin.soto@example.com', '+56900000104', 'Concepción', 'standard'),
  customer('Isidora Muñoz', 'isidora.munoz@example.com', '+56900000105', 'La Serena', 'standard'),
  customer(
    'Tomás Henríquez',
    'tomas.henriquez@example.com',
    '+56900000106',
    'Punta Arenas',
    'silver',
  ),
  customer('Florencia Díaz', 'florencia.diaz@example.com', '+56900000107', 'Temuco', 'silver'),
  customer(
    'Lucas Contreras',
    'lucas.contreras@example.com',
    '+56900000108',
    'Coyhaique',
    'standard',
  ),
];

type Line = [name: string, quantity: number];

/** Prices and total are computed from the products, so that they agree. */
function order(
  number: string,
  customerEmail: string,
  state: string,
  placedOn: string,
  lines: Line[],
) {
  const items = lines.map(([name, quantity]) => {
    const found = products.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`The demo has no product "${name}"`);
    return { product: name, quantity, priceClp: found.priceClp };
  });
  const totalClp = items.reduce((sum, item) => sum + item.quantity * item.priceClp, 0);
  return { number, customerEmail, items, totalClp, state, placedOn };
}

const orders = [
  order('C-1031', 'camila.rojas@example.com', 'delivered', '2026-08-14', [['Paine 2 tent', 1]]),
  order('C-1032', 'matias.fuentes@example.com', 'delivered', '2026-08-20', [
    ['Quebrada 20 day pack', 2],
  ]),
  order('C-1033', 'antonia.vergara@example.com', 'delivered', '2026-09-02', [
    ['Ojos −18 °C sleeping bag', 2],
    ['Puna sleeping mat', 2],
  ]),
  order('C-1034', 'benjamin.soto@example.com', 'cancelled', '2026-09-09', [
    ['Valle family tent', 1],
  ]),
  order('C-1035', 'isidora.munoz@example.com', 'delivered', '2026-09-17', [
    ['Maipo trail shoes', 1],
  ]),
  order('C-1036', 'tomas.henriquez@example.com', 'delivered', '2026-09-25', [
    ['Baker rain jacket', 1],
    ['Elqui fleece', 1],
  ]),
  order('C-1037', 'camila.rojas@example.com', 'delivered', '2026-10-03', [['Volcán gas stove', 1]]),
  order('C-1038', 'florencia.diaz@example.com', 'returned', '2026-10-08', [
    ['Tronador trekking boots', 1],
  ]),
  order('C-1039', 'lucas.contreras@example.com', 'delivered', '2026-10-15', [
    ['Aysén 65 backpack', 1],
  ]),
  order('C-1040', 'antonia.vergara@example.com', 'shipped', '2026-11-10', [
    ['Dientes expedition tent', 1],
  ]),
  order('C-1041', 'matias.fuentes@example.com', 'shipped', '2026-11-12', [
    ['Refugio cooking set', 1],
    ['Volcán gas stove', 1],
  ]),
  order('C-1042', 'camila.rojas@example.com', 'shipped', '2026-11-15', [
    ['Salar −5 °C sleeping bag', 1],
    ['Puna sleeping mat', 1],
  ]),
  order('C-1043', 'isidora.munoz@example.com', 'paid', '2026-11-18', [['Paine 3 tent', 1]]),
  order('C-1044', 'tomas.henriquez@example.com', 'pending', '2026-11-19', [
    ['Aysén 45 backpack', 1],
  ]),
];

/** The entities of the demo by type, in the order of their creation. */
export const demoRows: Record<string, JsonObject[]> = {
  product: products,
  customer: customers,
  order: orders,
};
