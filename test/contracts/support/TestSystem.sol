// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CollectionFactory} from "../../../contracts/CollectionFactory.sol";
import {ERC1155Collection} from "../../../contracts/ERC1155Collection.sol";
import {ERC721Collection} from "../../../contracts/ERC721Collection.sol";
import {Relay} from "../../../contracts/Relay.sol";
import {IRelay} from "../../../contracts/interfaces/IRelay.sol";
import {Vm} from "./Vm.sol";

/// @title TestSystem
/// @notice Deploys relay and factory and signs for wallets. The test contract owns the relay and is its operator.
abstract contract TestSystem {
    Vm internal constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    uint32 internal constant ITEM_GAS = 1_000_000;
    uint256 internal constant WALLETS = 4;

    /// @dev The order of the curve secp256k1. Private keys are below it.
    uint256 internal constant CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;

    Relay internal immutable RELAY;
    CollectionFactory internal immutable FACTORY;

    /// @dev Far away from the numbers that a test chooses itself.
    uint256 private _lastNumber = 1 << 200;

    error CreationFailed(bytes args);

    constructor() {
        RELAY = new Relay(address(this), "https://host.example/metadata/");
        RELAY.setOperator(address(this), true);
        FACTORY = new CollectionFactory(
            address(RELAY),
            _newErc721(address(RELAY)),
            address(new ERC1155Collection(address(RELAY)))
        );
    }

    /// @dev Deploys the implementation of ERC721 collections. Overridden to test other storage.
    function _newErc721(address relay) internal virtual returns (address) {
        return address(new ERC721Collection(relay));
    }

    /// @dev The arguments of a hosted collection without owner and royalty, with the name "N" and the symbol "S".
    function _createErc721() internal returns (ERC721Collection) {
        return ERC721Collection(_create(FACTORY.createERC721.selector, hex"01000100014e53"));
    }

    function _createErc721WithCap(uint64 cap) internal returns (ERC721Collection) {
        bytes memory args = abi.encodePacked(uint8(9), cap, uint16(1), uint16(1), "NS");
        return ERC721Collection(_create(FACTORY.createERC721.selector, args));
    }

    function _createErc1155() internal returns (ERC1155Collection) {
        return ERC1155Collection(_create(FACTORY.createERC1155.selector, hex"01000100014e53"));
    }

    function _create(bytes4 selector, bytes memory args) internal returns (address collection) {
        uint256 number = _nextNumber();
        collection =
            selector == FACTORY.createERC721.selector
                ? FACTORY.predictERC721(number, args)
                : FACTORY.predictERC1155(number, args);
        _run(number, address(FACTORY), abi.encodeWithSelector(selector, args));
        if (collection.code.length == 0) revert CreationFailed(args);
    }

    /// @dev Runs one call through the relay, with a fresh number.
    function _run(address target, bytes memory data) internal returns (uint256 number) {
        number = _nextNumber();
        _run(number, target, data);
    }

    function _run(uint256 number, address target, bytes memory data) internal {
        IRelay.Call[] memory calls = new IRelay.Call[](1);
        calls[0] = IRelay.Call(number, target, ITEM_GAS, data);
        RELAY.execute(calls);
    }

    function _nextNumber() internal returns (uint256) {
        return ++_lastNumber;
    }

    function _keyOf(uint256 seed) internal pure returns (uint256) {
        return 0xa11ce + (seed % WALLETS);
    }

    function _walletOf(uint256 seed) internal pure returns (address) {
        return VM.addr(_keyOf(seed));
    }

    /// @dev Signs a transfer, in the compact form of ERC-2098.
    function _signTransfer(
        uint256 key,
        address collection,
        address to,
        uint256 tokenId,
        uint256 amount,
        uint256 number
    ) internal view returns (bytes32 r, bytes32 vs) {
        bytes32 typeHash = keccak256(
            "TransferAuthorization(address from,address to,uint256 tokenId,uint256 amount,uint256 number)"
        );
        bytes32 structHash = keccak256(abi.encode(typeHash, VM.addr(key), to, tokenId, amount, number));
        return _sign(key, keccak256(abi.encodePacked(hex"1901", _domainSeparator(collection), structHash)));
    }

    /// @dev Signs a burn, in the compact form of ERC-2098.
    function _signBurn(
        uint256 key,
        address collection,
        uint256 tokenId,
        uint256 amount,
        uint256 number
    ) internal view returns (bytes32 r, bytes32 vs) {
        bytes32 typeHash = keccak256("BurnAuthorization(address from,uint256 tokenId,uint256 amount,uint256 number)");
        bytes32 structHash = keccak256(abi.encode(typeHash, VM.addr(key), tokenId, amount, number));
        return _sign(key, keccak256(abi.encodePacked(hex"1901", _domainSeparator(collection), structHash)));
    }

    function _sign(uint256 key, bytes32 digest) internal pure returns (bytes32 r, bytes32 vs) {
        (uint8 v, bytes32 r_, bytes32 s) = VM.sign(key, digest);
        return (r_, bytes32(uint256(s) | (uint256(v - 27) << 255)));
    }

    function _domainSeparator(address verifyingContract) internal view returns (bytes32) {
        bytes32 typeHash = keccak256(
            "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
        );
        return keccak256(abi.encode(typeHash, keccak256("Moneta"), keccak256("1"), block.chainid, verifyingContract));
    }
}
