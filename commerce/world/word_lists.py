"""Word lists of titles, brands and supplier names. None of these words carries information about a SKU or supplier."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


BRAND_HEADS = _words(
    "Alder Bram Corvo Dalen Ember Fjord Garda Halden Irwell Juno Kestrel Lumen Marlow Norden Orla Perrin"
)
BRAND_TAILS = _words("craft field house lane line loom mark mill nest port stone works")

ADJECTIVES = _words("Classic Compact Everyday Essential Modern Premium Simple Slim Sturdy Urban Versatile Light")

SUPPLIER_HEADS = _words(
    "Amber Arbor Atlas Beacon Birch Bridge Canyon Cedar Cobalt Copper Crest Delta Eagle Fern Forest Garnet Golden "
    "Harbor Hazel Horizon Indigo Iron Ivory Jade Juniper Lake Laurel Linden Maple Meadow Mercury Mountain Northern "
    "Oak Ocean Olive Opal Orchard Pearl Pioneer Prairie Quarry Raven River Sable Silver Summit Willow"
)
SUPPLIER_TAILS = _words(
    "Collective Company Depot Distribution Export Goods Group House Hub Merchants Partners Provisions Sourcing Source "
    "Supply Supplies Trade Trading Traders Union Ventures Warehouse Wares Wholesale"
)

NOUNS: dict[str, str] = {
    "Major Appliances": "refrigerator washer dishwasher oven",
    "Small Appliances": "kettle toaster blender rice-cooker",
    "Audio & Video Electronics": "speaker soundbar projector headset",
    "Smartphones": "smartphone handset phone flip-phone",
    "Laptops": "laptop notebook ultrabook workstation",
    "Computer Hardware & Peripherals": "keyboard mouse monitor webcam",
    "3C Digital Accessories": "charger cable phone-case screen-film",
    "Storage Devices": "flash-drive memory-card hard-drive card-reader",
    "Networking Equipment": "router switch repeater modem",
    "Women's Fashion": "dress blouse skirt cardigan",
    "Men's Clothing": "shirt trousers jacket polo",
    "Underwear & Loungewear": "pyjamas robe socks vest",
    "Fashion Accessories": "scarf belt hat gloves",
    "Sportswear & Casual": "hoodie joggers tracksuit leggings",
    "Women's Shoes": "pumps sandals loafers ankle-boots",
    "Men's Shoes": "derby-shoes brogues boots slip-ons",
    "Sneakers": "sneakers trainers running-shoes skate-shoes",
    "Bags & Luggage": "backpack suitcase tote satchel",
    "Snacks & Nuts": "cashews crackers almonds dried-fruit",
    "Groceries & Staples": "rice noodles flour cooking-oil",
    "Coffee & Beverages": "coffee tea juice cocoa",
    "Fresh Food & Meat": "beef salmon dumplings eggs",
    "Alcoholic Beverages": "wine beer whisky rice-wine",
    "Health Supplements": "vitamins fish-oil protein collagen",
    "Skincare & Beauty": "serum cleanser cream lipstick",
    "Beauty Devices": "hair-dryer epilator curler face-brush",
    "Personal Care & Massage": "massager razor toothbrush foot-bath",
    "Sports & Fitness": "dumbbell yoga-mat jump-rope racket",
    "Sports Bags & Accessories": "gym-bag duffel ball-bag racket-bag",
    "Outdoor & Camping": "tent sleeping-bag lantern camp-stove",
    "Children's Clothing": "romper overalls kids-jacket kids-dress",
    "Children's Shoes": "kids-sneakers kids-sandals kids-boots toddler-shoes",
    "Baby Products": "stroller diapers bottle baby-carrier",
    "Maternity Products": "maternity-belt nursing-bra body-pillow nursing-cover",
    "Toys & Educational": "blocks puzzle globe science-kit",
    "Furniture": "desk bookcase chair cabinet",
    "Bedding": "duvet pillow bedsheet mattress-pad",
    "Household Essentials": "tissue hooks trash-bags batteries",
    "Storage & Organization": "storage-box shelf drawer basket",
    "Lighting": "lamp light-strip chandelier bulb",
    "Home Building Materials": "tile faucet door-lock flooring",
    "Basic Construction Materials": "cement-mix sealant pipe plywood",
    "Cleaning Tools": "mop broom duster sponge",
    "Kitchenware": "wok knife cutting-board saucepan",
    "Cleaning & Hygiene": "detergent hand-soap bleach wipes",
    "Gifts & Party Supplies": "balloons gift-box candles garland",
    "Lifestyle Accessories": "umbrella mug key-holder travel-pillow",
    "Stationery & Office Supplies": "pen notepad stapler folder",
    "Office Equipment": "printer shredder laminator scanner",
    "Medical Devices": "thermometer oximeter bandage nebuliser",
    "Pet Supplies": "pet-bed leash cat-litter feeder",
    "Auto Accessories": "seat-cover dash-camera floor-mat car-wax",
    "Hardware & Tools": "drill hammer wrench screw-set",
    "Electrical Supplies": "socket extension-lead breaker wire",
    "Electronic Components": "resistor-kit relay sensor connector",
    "E-Vehicles & Parts": "e-scooter e-bike battery-pack hub-motor",
    "Agricultural Supplies": "sprayer fertiliser seedling-tray hose",
    "Industrial & Lab Supplies": "beaker gloves-box pump gauge",
    "Collectibles & Figures": "figure model-kit trading-cards statuette",
    "Gaming & Accessories": "gamepad console gaming-chair dock",
}
